//! Which desktop there is, and which program does what on it.

use std::path::PathBuf;

use crate::config::DesktopConfig;
use crate::program::find;

/// A kind of desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Desktop {
    /// One that speaks Wayland.
    Wayland,
    /// One that speaks X11.
    X11,
    /// The Mac's.
    Mac,
}

/// Why nothing can be done with the desktop. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DesktopError {
    #[error(
        "{0} needs a desktop, and there is none on this machine: neither DISPLAY nor \
         WAYLAND_DISPLAY is set. Nothing was done. It works when Tillerman is started from within \
         a desktop session; do without it here."
    )]
    None(&'static str),
    #[error(
        "{what} needs one of these programs, and none of them is installed: {}. Nothing was done. \
         Ask the user to install one.", .programs.join(", ")
    )]
    NoProgram { what: &'static str, programs: Vec<&'static str> },
}

/// A way to do something: on which desktop, with which program and which arguments.
pub(crate) type Way = (Desktop, &'static str, &'static [&'static str]);

/// The desktops that there are, the best first.
fn desktops(config: &DesktopConfig) -> Vec<Desktop> {
    let mut desktops = Vec::new();
    if cfg!(target_os = "macos") {
        desktops.push(Desktop::Mac);
    }
    if config.variable("WAYLAND_DISPLAY").is_some() {
        desktops.push(Desktop::Wayland);
    }
    if config.variable("DISPLAY").is_some() {
        desktops.push(Desktop::X11);
    }
    desktops
}

/// What kind of desktop there is, in a word.
pub(crate) fn describe(config: &DesktopConfig) -> &'static str {
    match desktops(config).first() {
        Some(Desktop::Wayland) => "wayland",
        Some(Desktop::X11) => "x11",
        Some(Desktop::Mac) => "macos",
        None => "none",
    }
}

/// The first way that there is a desktop and a program for.
pub(crate) fn choose(
    config: &DesktopConfig,
    what: &'static str,
    ways: &'static [Way],
) -> Result<(PathBuf, &'static Way), DesktopError> {
    let desktops = desktops(config);
    if desktops.is_empty() {
        return Err(DesktopError::None(what));
    }
    let fitting = || {
        let of_desktop = |desktop: Desktop| ways.iter().filter(move |way| way.0 == desktop);
        desktops.iter().copied().flat_map(of_desktop)
    };
    let found = fitting().find_map(|way| Some((find(config, way.1)?, way)));
    found.ok_or_else(|| {
        let mut programs: Vec<&str> = fitting().map(|way| way.1).collect();
        programs.dedup();
        DesktopError::NoProgram { what, programs }
    })
}
