//! Settings for git that come with the environment, beside those that are there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use tillerman_ports::BoxFuture;

use crate::egress::broker::{Broker, LentCredential, LentSecret, SecretSource, TrustedRoots};

#[derive(Debug)]
struct Nobody;

impl SecretSource for Nobody {
    fn reveal(&self) -> BoxFuture<Result<LentSecret, String>> {
        Box::pin(async { Err("nobody asks".to_owned()) })
    }
}

fn lent(hosts: &[&str], before: &[(&str, &str)]) -> BTreeMap<String, String> {
    let credential = LentCredential {
        name: "hub".to_owned(),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        variables: vec!["HUB_TOKEN".to_owned()],
        username: "me".to_owned(),
        source: Arc::new(Nobody),
    };
    let broker = Broker::start(&[credential], &TrustedRoots::System).unwrap();
    let given = before.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mut environment = given.collect();
    broker.lend(&mut environment);
    let text = |text: OsString| text.into_string().unwrap();
    environment.into_iter().map(|(name, value)| (text(name), text(value))).collect()
}

#[test]
fn settings_are_added_to_those_that_are_there() {
    let before = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "user.name"),
        ("GIT_CONFIG_VALUE_0", "Somebody"),
        ("HUB_TOKEN", "a real one"),
    ];
    let environment = lent(&["hub.test", "odd.test:8443"], &before);
    assert_eq!(environment["GIT_CONFIG_COUNT"], "7");
    assert_eq!(environment["GIT_CONFIG_VALUE_0"], "Somebody");
    assert_eq!(environment["GIT_CONFIG_KEY_1"], "url.http://hub.test/.insteadOf");
    assert_eq!(environment["GIT_CONFIG_VALUE_1"], "https://hub.test/");
    assert_eq!(environment["GIT_CONFIG_VALUE_2"], "git@hub.test:");
    assert_eq!(environment["GIT_CONFIG_VALUE_3"], "ssh://git@hub.test/");
    assert_eq!(environment["GIT_CONFIG_KEY_4"], "http.http://hub.test/.extraHeader");
    assert!(environment["GIT_CONFIG_VALUE_4"].starts_with("Authorization: Basic "));
    assert_eq!(environment["GIT_CONFIG_KEY_5"], "url.http://odd.test:8443/.insteadOf");
    assert_eq!(environment["GIT_CONFIG_VALUE_5"], "https://odd.test:8443/");
    assert_eq!(environment["GIT_CONFIG_KEY_6"], "http.http://odd.test:8443/.extraHeader");
    assert!(environment["HUB_TOKEN"].starts_with("tillerman-credential-hub-"));
}

#[test]
fn a_count_that_git_would_refuse_is_begun_anew() {
    for count in ["", "many", "-1", "99999999999"] {
        let environment = lent(&["hub.test"], &[("GIT_CONFIG_COUNT", count)]);
        assert_eq!(environment["GIT_CONFIG_COUNT"], "4", "{count}");
        assert!(environment.contains_key("GIT_CONFIG_KEY_0"));
    }
}

#[test]
fn what_stands_for_a_credential_is_another_every_time() {
    let first = lent(&["hub.test"], &[]);
    assert_ne!(first["HUB_TOKEN"], lent(&["hub.test"], &[])["HUB_TOKEN"]);
}
