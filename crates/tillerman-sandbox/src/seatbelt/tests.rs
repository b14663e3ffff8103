//! Profiles as text: order, escaping and what is left out.

use std::path::Path;

use super::{arguments, profile};
use crate::confinement::{Confinement, Guard, LocalBinding, UnixSockets};

fn confinement() -> Confinement {
    Confinement {
        writable: vec!["/Users/me/project".into()],
        readable: vec!["/Users/me/.cargo".into()],
        hidden: vec!["/Users/me/.cargo/credentials.toml".into()],
        guarded: vec![Guard::file("/Users/me/project/a/.mcp.json")],
        home: Some("/Users/me".into()),
        ..Confinement::default()
    }
}

fn position(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("{part} is missing in\n{text}"))
}

#[test]
fn later_rules_take_back_what_earlier_ones_give() {
    let text = profile(&confinement(), Path::new("/private/tmp/x"), None);
    assert!(text.starts_with("(version 1)\n(deny default)\n"));
    let order = [
        "(deny file-read* (subpath \"/Users/me\"))",
        "(allow file-read* (subpath \"/Users/me/.cargo\"))",
        "(allow file-read* file-write* (subpath \"/Users/me/project\"))",
        "(allow file-read* file-write* (subpath \"/private/tmp/x\"))",
        "(deny file-write* (subpath \"/Users/me/project/a/.mcp.json\"))",
        "(deny file-write-unlink (literal \"/Users/me/project/a\"))",
        "(deny file-read* file-write* (subpath \"/Users/me/.cargo/credentials.toml\"))",
    ];
    let places: Vec<usize> = order.iter().map(|part| position(&text, part)).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("(literal \"/Users/me/project\")"), "{text}");
}

#[test]
fn the_network_is_closed_unless_something_opens_it() {
    let temp = Path::new("/private/tmp/x");
    assert!(!profile(&confinement(), temp, None).contains("network"));
    let text = profile(&confinement(), temp, Some(4321));
    position(&text, "(allow network-outbound (remote ip \"localhost:4321\"))");
    let open = Confinement {
        unix_sockets: UnixSockets::Only(vec!["/var/run/docker.sock".into()]),
        local_binding: LocalBinding::Allowed,
        ..confinement()
    };
    let text = profile(&open, temp, None);
    position(&text, "(allow network-outbound (literal \"/var/run/docker.sock\"))");
    position(&text, "(allow network-bind network-inbound (local ip \"localhost:*\"))");
}

#[test]
fn no_path_breaks_out_of_its_text() {
    let writable = vec!["/a\")(allow default)(\"\\b\nc".into()];
    let text = profile(&Confinement { writable, ..Confinement::default() }, Path::new("/t"), None);
    position(&text, r#"(subpath "/a\")(allow default)(\"\\b\xa;c")"#);
    assert!(!text.lines().any(|line| line.starts_with("(allow default)")), "{text}");
}

#[test]
fn the_command_follows_the_profile() {
    let line = arguments("(version 1)", Path::new("/bin/bash"), &["-c".into(), "true".into()]);
    assert_eq!(line, ["-p", "(version 1)", "/bin/bash", "-c", "true"]);
}
