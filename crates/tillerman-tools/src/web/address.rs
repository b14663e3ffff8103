//! Telling public addresses from those that lead into a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::Reach;

/// The platform service of one cloud answers under an address that looks public.
const PLATFORM_SERVICE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Whether a connection to the address is in order.
pub(super) fn may_reach(address: IpAddr, reach: Reach) -> bool {
    let address = address.to_canonical();
    (reach == Reach::PublicAndLoopback && address.is_loopback()) || is_public(address)
}

/// Whether the address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let reserved = matches!(
        (first, second, third),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !reserved && address != PLATFORM_SERVICE
}

/// Only global unicast is public, and of that not what carries another address inside: such a one
/// counts as what it carries.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
