//! Credentials as they are written: what is read, what is named as wrong, what stronger layers do.

use serde_json::{Value, json};

use super::CredentialFrom;
use crate::sandbox::SandboxSettings;

fn github() -> Value {
    json!({
        "name": "github",
        "hosts": ["github.com", "api.github.com:8443"],
        "environment": ["GITHUB_TOKEN"],
        "from": {"environment": "GH_TOKEN"},
        "username": "x-access-token",
    })
}

#[test]
fn credentials_are_read_and_written_alike() {
    let section = json!({"credentials": [
        github(),
        {"name": "registry", "hosts": ["npm.example"], "from": {"file": "~/.secrets/npm"}},
        {"name": "hub", "hosts": ["hub.example"], "from": {"command": "gh auth token"}},
    ]});
    let settings = SandboxSettings::parse(&section).unwrap();
    let [first, second, third] = &settings.credentials[..] else { panic!("{settings:?}") };
    assert_eq!(first.hosts, ["github.com", "api.github.com:8443"]);
    assert_eq!(first.variables().collect::<Vec<_>>(), ["GITHUB_TOKEN", "GH_TOKEN"]);
    assert_eq!(second.from, CredentialFrom::File("~/.secrets/npm".to_owned()));
    assert_eq!(third.from, CredentialFrom::Command("gh auth token".to_owned()));
    assert_eq!(third.variables().count(), 0);
    let written = serde_json::to_value(&settings).unwrap();
    assert_eq!(written["credentials"], section["credentials"]);
}

#[test]
fn what_is_wrong_is_named() {
    let check = |key: &str, value: Value, named: &str| {
        let mut entry = github();
        entry[key] = value;
        let error = SandboxSettings::parse(&json!({"credentials": [entry]})).unwrap_err();
        assert_eq!(error.key, format!(".credentials[0].{named}"), "{error}");
    };
    check("name", json!(""), "name");
    check("name", json!("two words"), "name");
    check("name", Value::Null, "name");
    for hosts in [
        json!([]),
        json!("github.com"),
        json!(["*"]),
        json!(["*.github.com"]),
        json!(["https://github.com"]),
        json!(["github.com/path"]),
        Value::Null,
    ] {
        check("hosts", hosts, "hosts");
    }
    check("environment", json!(["A=B"]), "environment");
    check("username", json!("a:b"), "username");
    for from in [
        Value::Null,
        json!({}),
        json!({"environment": "A", "file": "/a"}),
        json!({"file": "relative"}),
        json!({"command": " "}),
        json!({"value": "the secret itself"}),
    ] {
        check("from", from, "from");
    }
    let twice = SandboxSettings::parse(&json!({"credentials": [github(), github()]}));
    assert_eq!(twice.unwrap_err().key, ".credentials[1].name");
    let error = SandboxSettings::parse(&json!({"credentials": {}})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sandbox.credentials must be a list of objects; nothing is run until it is corrected"
    );
}

#[test]
fn a_stronger_layer_replaces_by_name_and_a_tightening_one_lends_nothing() {
    let below = SandboxSettings::parse(&json!({"credentials": [
        github(), {"name": "other", "hosts": ["b"], "from": {"file": "/b"}},
    ]}));
    let over = SandboxSettings::parse(&json!({"credentials": [
        {"name": "github", "hosts": ["c"], "from": {"file": "/c"}},
    ]}));
    let over = over.unwrap();
    let both = below.unwrap().overlaid(over.clone());
    let hosts: Vec<&String> = both.credentials.iter().flat_map(|it| &it.hosts).collect();
    assert_eq!(hosts, ["b", "c"]);
    assert!(over.tightening().credentials.is_empty());
}
