//! Which addresses count as public.

use super::{is_public, may_reach};
use crate::config::Reach;

#[test]
fn public_addresses_may_be_reached() {
    for address in [
        "1.1.1.1",
        "93.184.216.34",
        "100.63.0.1",
        "172.32.0.1",
        "2606:4700::1111",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "::ffff:1.1.1.1",
    ] {
        assert!(is_public(address.parse().unwrap()), "{address}");
        assert!(may_reach(address.parse().unwrap(), Reach::Public), "{address}");
    }
}

#[test]
fn all_others_are_refused_in_every_disguise() {
    for address in [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert!(!is_public(address.parse().unwrap()), "{address}");
        assert!(!may_reach(address.parse().unwrap(), Reach::Public), "{address}");
    }
}

#[test]
fn the_reach_of_tests_takes_in_this_machine_and_nothing_more() {
    let reaches = |address: &str| may_reach(address.parse().unwrap(), Reach::PublicAndLoopback);
    assert!(reaches("127.0.0.1") && reaches("::1") && reaches("::ffff:127.0.0.1"));
    assert!(!reaches("10.0.0.1") && !reaches("169.254.169.254") && !reaches("fe80::1"));
}
