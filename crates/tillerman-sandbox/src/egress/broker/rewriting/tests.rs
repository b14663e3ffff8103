//! Where secrets are put, and where they are not.

use hyper::Request;

use super::{Swap, basic_value, carries, is_for_secrets, swapped};
use crate::egress::broker::LentSecret;

const SENTINEL: &str = "tillerman-credential-x-0123";
const SECRET: &str = "ghp_the:real+one";

fn swaps() -> [Swap<'static>; 1] {
    [Swap { sentinel: SENTINEL, secret: LentSecret::new(SECRET).unwrap() }]
}

#[test]
fn secrets_stand_where_their_sentinels_stood() {
    for (before, after) in [
        (format!("Bearer {SENTINEL}"), format!("Bearer {SECRET}")),
        (format!("token {SENTINEL}"), format!("token {SECRET}")),
        (SENTINEL.to_owned(), SECRET.to_owned()),
        (format!("a={SENTINEL}; b={SENTINEL}"), format!("a={SECRET}; b={SECRET}")),
        (basic_value("me", SENTINEL), basic_value("me", SECRET)),
        (basic_value(SENTINEL, ""), basic_value(SECRET, "")),
        ("Bearer other".to_owned(), "Bearer other".to_owned()),
        ("Basic !!".to_owned(), "Basic !!".to_owned()),
    ] {
        let (value, echoes) = swapped(&before, &swaps());
        assert_eq!(value, after);
        assert_eq!(echoes.is_empty(), before == after, "{before}");
        // Every echo leads back from what is sent to what was written inside.
        let back = echoes.iter().fold(after, |text, echo| text.replace(&echo.sent, &echo.shown));
        assert_eq!(back.to_lowercase(), before.to_lowercase());
    }
}

#[test]
fn encoded_names_and_passwords_are_looked_into() {
    let carries = |address: &str, name: &str, value: &str| {
        let request = Request::builder().uri(address).header(name, value).body(()).unwrap();
        carries(&request.into_parts().0, SENTINEL)
    };
    let unpadded = basic_value("a", SENTINEL).trim_end_matches('=').replace("Basic", "bASIC");
    assert!(carries("http://a/", "Authorization", &unpadded));
    assert!(carries("http://a/", "X-Some", SENTINEL));
    assert!(carries("http://a/", SENTINEL, "x"));
    assert!(carries(&format!("http://a/?{SENTINEL}"), "X-Some", "x"));
    assert!(carries(&format!("http://{SENTINEL}@a/"), "X-Some", "x"));
    assert!(!carries("http://a/", "Authorization", "Basic YTpi"));
}

#[test]
fn only_headers_for_secrets_get_some() {
    for name in ["Authorization", "X-Api-Key", "PRIVATE-TOKEN", "Cookie", "x-goog-api-key"] {
        assert!(is_for_secrets(name), "{name}");
    }
    for name in ["User-Agent", "Referer", "Accept", "X-Request-Id"] {
        assert!(!is_for_secrets(name), "{name}");
    }
}

#[test]
fn a_secret_is_one_line_that_can_be_recognized() {
    assert_eq!(LentSecret::new("  12345678\n").unwrap().reveal(), "12345678");
    for bad in ["", "short", "two\nlines", "with\r\nheader: x", "ümlaut-ümlaut", "tab\tinside"] {
        assert!(LentSecret::new(bad).is_err(), "{bad:?}");
    }
    assert!(LentSecret::new(&"x".repeat(10_000)).is_err());
    assert_eq!(format!("{:?}", swaps()[0].secret), "[redacted]");
}
