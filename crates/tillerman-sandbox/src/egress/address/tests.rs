//! Addresses that lead back inside, in all the ways they can be written.

use super::is_public;

#[test]
fn addresses_of_this_machine_and_its_networks_are_not_public() {
    for address in [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.8",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:db8::1",
        "2001::1",
        "::127.0.0.1",
    ] {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn other_addresses_are() {
    for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "172.32.0.1"]
    {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}
