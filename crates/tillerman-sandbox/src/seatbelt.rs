//! The Seatbelt profile of macOS for a confinement, and how a command is started under it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::confinement::{Confinement, LocalBinding, UnixSockets};

/// The program that applies a profile; never looked up in a path.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// What a command under Seatbelt needs of the system besides files.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name \"com.apple.system.opendirectoryd.libinfo\")
  (global-name \"com.apple.system.logger\")
  (global-name \"com.apple.system.notification_center\"))
(allow ipc-posix-sem)
(allow file-ioctl (literal \"/dev/dtracehelper\") (literal \"/dev/tty\"))
(allow file-read* (subpath \"/\"))
(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))
";

/// The profile for a confinement. Later rules count more than earlier ones, so what is guarded and
/// hidden comes last. Paths must be free of links: Seatbelt compares what they lead to.
#[must_use]
pub fn profile(confinement: &Confinement, temp: &Path, proxy_port: Option<u16>) -> String {
    let mut profile = String::from(BASE);
    let mut rule = |text: String| {
        profile.push_str(&text);
        profile.push('\n');
    };
    if let Some(home) = &confinement.home {
        rule(format!("(deny file-read* {})", subpath(home)));
        // Programs look up the way to where they are.
        rule(format!("(allow file-read-metadata {})", literal(home)));
    }
    for path in &confinement.readable {
        rule(format!("(allow file-read* {})", subpath(path)));
    }
    for path in confinement.writable.iter().map(PathBuf::as_path).chain([temp]) {
        rule(format!("(allow file-read* file-write* {})", subpath(path)));
    }
    for guard in &confinement.guarded {
        rule(format!("(deny file-write* {})", subpath(&guard.path)));
        for ancestor in ancestors_inside(&guard.path, &confinement.writable) {
            // Whoever moves a parent away can put another file in the guarded place.
            rule(format!("(deny file-write-unlink {})", literal(ancestor)));
        }
    }
    for path in &confinement.hidden {
        rule(format!("(deny file-read* file-write* {})", subpath(path)));
        for ancestor in ancestors_inside(path, &confinement.writable) {
            rule(format!("(deny file-write-unlink {})", literal(ancestor)));
        }
    }
    match &confinement.unix_sockets {
        UnixSockets::None => {}
        UnixSockets::Only(paths) => {
            for path in paths {
                rule(format!("(allow network-outbound {})", literal(path)));
            }
        }
        UnixSockets::All => rule("(allow network-outbound (subpath \"/\"))".to_owned()),
    }
    if let Some(port) = proxy_port {
        rule(format!("(allow network-outbound (remote ip \"localhost:{port}\"))"));
    }
    if confinement.local_binding == LocalBinding::Allowed {
        rule("(allow network-bind network-inbound (local ip \"localhost:*\"))".to_owned());
        rule("(allow network-outbound (remote ip \"localhost:*\"))".to_owned());
    }
    profile
}

/// The arguments for [`PROGRAM`] that start a command under a profile.
#[must_use]
pub fn arguments(profile: &str, program: &Path, arguments: &[OsString]) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec!["-p".into(), profile.into(), program.into()];
    line.extend(arguments.iter().cloned());
    line
}

/// The directories from a path up to the writable directory around it, that one excluded.
fn ancestors_inside<'a>(path: &'a Path, writable: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    let inside = |ancestor: &&Path| {
        writable.iter().any(|root| ancestor.starts_with(root) && *ancestor != root.as_path())
    };
    path.ancestors().skip(1).take_while(inside)
}

fn subpath(path: &Path) -> String {
    format!("(subpath {})", quoted(path))
}

fn literal(path: &Path) -> String {
    format!("(literal {})", quoted(path))
}

/// A path as a text of the profile's language, from which no path can break out.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for character in path.to_string_lossy().chars() {
        match character {
            '"' | '\\' => {
                text.push('\\');
                text.push(character);
            }
            control if control.is_control() => {
                text.push_str(&format!("\\x{:x};", u32::from(control)));
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests;
