//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address leads out of this machine and its networks.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network, carriers' networks, and what is reserved for tests and for later.
        (0 | 240..=255, _, _) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) => true,
        // The old relays of the sixth version.
        (192, 88, 99) => true,
        _ => false,
    };
    !(special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only this block is given out; the rest is local, multicast or reserved.
    let [first, second, ..] = address.segments();
    let global = first & 0xe000 == 0x2000;
    let documentation = first == 0x2001 && second == 0x0db8 || first & 0xfff0 == 0x3ff0;
    let protocols = first == 0x2001 && second < 0x0200;
    global && !documentation && !protocols
}

/// The address of the fourth version inside one of the sixth: mapped, translated or tunnelled.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] if high != 0 => Some(join(high, low)),
        [0x64, 0xff9b, .., high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
