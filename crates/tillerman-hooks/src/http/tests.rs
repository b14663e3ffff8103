//! Which addresses a pattern allows.

use super::fits;

#[test]
fn a_star_never_reaches_beyond_the_host() {
    let table = [
        ("https://hooks.example.com/*", "https://hooks.example.com/a/b", true),
        ("https://hooks.example.com", "https://hooks.example.com/", true),
        ("https://*.example.com/*", "https://a.example.com/x", true),
        ("https://*.example.com/*", "https://evil.test/.example.com/", false),
        ("https://hooks.example.com/*", "https://hooks.example.com.evil.test/a", false),
        ("https://hooks.example.com/*", "http://hooks.example.com/a", false),
        ("https://hooks.example.com/a", "https://hooks.example.com/ab", false),
        ("https://*.example.com/*/in", "https://a.example.com/x/y/in", true),
        ("http://127.0.0.1:*/hook", "http://127.0.0.1:8080/hook", true),
    ];
    for (pattern, url, expected) in table {
        assert_eq!(fits(pattern, url), expected, "{pattern} {url}");
    }
}
