//! What the desktop tools could do here, for people who want to know before they start.

use std::path::PathBuf;

use crate::config::DesktopConfig;
use crate::desktop::{choose, describe};
use crate::tools::{CLIPBOARD_WAYS, OPENING_WAYS, SCREEN_WAYS};

/// What the desktop tools could do here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The kind of desktop: `wayland`, `x11`, `macos` or `none`.
    pub desktop: &'static str,
    /// What needs a program, and the program that would do it, where there is one.
    pub programs: Vec<(&'static str, Option<PathBuf>)>,
}

/// Looks which programs there are. Nothing is started.
#[must_use]
pub fn survey(config: &DesktopConfig) -> Survey {
    let ways = [
        ("opening files", OPENING_WAYS),
        ("the clipboard", CLIPBOARD_WAYS),
        ("the screen", SCREEN_WAYS),
    ];
    let find = |(what, ways)| {
        let found = choose(config, what, ways).ok();
        (what, found.map(|(program, _)| program))
    };
    Survey { desktop: describe(config), programs: ways.into_iter().map(find).collect() }
}
