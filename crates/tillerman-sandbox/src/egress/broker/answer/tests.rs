//! Answers as clients get them.

use hyper::Response;
use hyper::ext::ReasonPhrase;
use hyper::http::response::Parts;

use super::clean;
use crate::egress::broker::loans::Service;
use crate::egress::broker::rewriting::Echo;
use crate::egress::rules::Host;

fn shown(headers: &[(&str, &str)]) -> Parts {
    let mut answer = Response::builder();
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    let (mut answer, ()) = answer.body(()).unwrap().into_parts();
    answer.extensions.insert(ReasonPhrase::from_static(b"Said The-Secret"));
    let service =
        |name: &str, port| Service { host: Host::Name(name.to_owned()), port, loans: Vec::new() };
    let services = [service("good.test", 443), service("odd.test", 8443)];
    let echo = Echo { sent: "The-Secret".to_owned(), shown: "the-sentinel".to_owned() };
    clean(&mut answer, &[echo], &services);
    answer
}

#[test]
fn secrets_that_come_back_are_taken_out() {
    let answer = shown(&[
        ("X-Echo", "a The-Secret b The-SecretThe-Secret"),
        ("X-The-Secret-Said", "x"),
        ("X-Other", "y"),
        ("X-Other", "The-Secret"),
    ]);
    let headers: Vec<_> = answer
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(
        headers,
        [
            ("x-echo", "a the-sentinel b the-sentinelthe-sentinel"),
            ("x-other", "y"),
            ("x-other", "the-sentinel")
        ]
    );
    let reason = answer.extensions.get::<ReasonPhrase>().unwrap();
    assert_eq!(reason.as_bytes(), b"Said the-sentinel");
}

#[test]
fn redirections_to_hosts_of_credentials_stay_with_the_broker() {
    for (to, leads) in [
        ("https://good.test/a", "http://good.test/a"),
        ("https://GOOD.test:443/a", "http://GOOD.test:443/a"),
        ("https://odd.test:8443", "http://odd.test:8443"),
        ("https://odd.test/", "https://odd.test/"),
        ("https://evil.test/good.test", "https://evil.test/good.test"),
        ("/relative", "/relative"),
    ] {
        assert_eq!(shown(&[("Location", to)]).headers["location"], leads);
    }
}
