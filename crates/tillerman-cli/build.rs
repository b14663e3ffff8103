//! Asks the linker for compact relocations where the C library of this machine reads them.
//!
//! A position-independent binary of this size carries tens of thousands of relocations, which are
//! read at each start and then stay resident. Packed, they are a fiftieth of the size.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script lives by its environment and getconf"
)]

use std::process::Command;

/// The first release of glibc whose loader knows packed relocations.
const FIRST: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_for_this_machine = variable("TARGET") == variable("HOST");
    if is_gnu && is_for_this_machine && glibc().is_some_and(|version| version >= FIRST) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The version of the C library here, as `getconf` tells it: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let answer = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
