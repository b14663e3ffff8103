//! Domains that look allowed and are not, in a table.

use super::{DomainRules, Host, Verdict};

fn rules(allowed: &[&str], denied: &[&str]) -> DomainRules {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    DomainRules::parse(&texts(allowed), &texts(denied)).unwrap()
}

fn check(rules: &DomainRules, host: &str, port: u16, expected: Verdict) {
    let parsed = Host::parse(host).unwrap_or_else(|| panic!("{host} is no host"));
    assert_eq!(rules.judge(&parsed, port), expected, "{host}:{port}");
}

#[test]
fn names_match_whole_labels() {
    let rules = rules(&["example.com", "*.wild.org", "ported.net:8443", "10.0.0.7"], &[]);
    for host in ["example.com", "EXAMPLE.com", "example.com.", "a.wild.org", "a.b.wild.org"] {
        check(&rules, host, 443, Verdict::AllowedName);
    }
    for host in ["notexample.com", "example.com.evil.org", "wild.org", "evilwild.org", "1.2.3.4"] {
        check(&rules, host, 443, Verdict::NotAllowed);
    }
    check(&rules, "ported.net", 8443, Verdict::AllowedName);
    check(&rules, "ported.net", 443, Verdict::NotAllowed);
    check(&rules, "10.0.0.7", 80, Verdict::AllowedAddress);
}

#[test]
fn what_is_denied_stays_denied() {
    let rules = rules(&["*"], &["*.bad.com", "evil.org"]);
    for host in ["bad.com", "x.bad.com", "evil.org", "EVIL.org."] {
        check(&rules, host, 443, Verdict::Denied);
    }
    check(&rules, "fine.org", 443, Verdict::AllowedName);
    // Everything is allowed as a name; an address must still be public.
    check(&rules, "127.0.0.1", 443, Verdict::AllowedName);
}

#[test]
fn ambiguous_hosts_are_no_hosts() {
    for host in [
        "0x7f.1",
        "127.1",
        "2130706433",
        "a..b",
        "",
        ".",
        "a b",
        "a/b",
        "user@host",
        "ü.de",
        "[::1",
        "a%00.com",
        "1.2.3.4.5",
    ] {
        assert_eq!(Host::parse(host), None, "{host}");
    }
    assert_eq!(Host::parse("[::1]"), Host::parse("::1"));
}

#[test]
fn rules_that_are_no_domains_are_named() {
    for rule in ["https://example.com", "example.com/path", "*.10.0.0.1", "a:b", "*x.com", "a:0"] {
        let error = DomainRules::parse(&[rule.to_owned()], &[]).unwrap_err();
        assert_eq!(error.0, rule);
    }
}
