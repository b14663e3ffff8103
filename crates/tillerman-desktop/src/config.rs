//! What the desktop tools are told about the machine and their limits.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Commands that only look, as long as their arguments stay inside.
const COMMANDS: [&str; 6] = ["ls", "pwd", "date", "echo", "cat", "grep"];
/// The variables that every program gets.
const PLAIN: [&str; 13] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
];
/// The variables that lead to the desktop, for programs that need it.
const DISPLAY: [&str; 10] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
];

/// How much the tools may do in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesktopLimits {
    /// Bytes of a file, an output or a clipboard.
    pub bytes: usize,
    /// How long a call may take.
    pub time: Duration,
    /// How long a person may take to point at a part of the screen.
    pub pointing: Duration,
    /// Files that a search or a list shows.
    pub results: usize,
}

impl Default for DesktopLimits {
    fn default() -> Self {
        Self {
            bytes: 10 * 1024 * 1024,
            time: Duration::from_secs(10),
            pointing: Duration::from_secs(30),
            results: 100,
        }
    }
}

/// What the desktop tools work with.
#[derive(Clone)]
pub struct DesktopConfig {
    root: PathBuf,
    commands: Vec<String>,
    environment: Vec<(OsString, OsString)>,
    limits: DesktopLimits,
}

impl DesktopConfig {
    /// Tools that stay below this directory and find programs by these variables. Only variables
    /// that programs need are kept, so that no credential can reach one.
    ///
    /// # Errors
    /// When the directory does not exist.
    pub fn new(
        root: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let is_known = |name: &OsStr| {
            name.to_str().is_some_and(|name| PLAIN.contains(&name) || DISPLAY.contains(&name))
        };
        Ok(Self {
            root,
            commands: COMMANDS.map(str::to_owned).to_vec(),
            environment: environment.into_iter().filter(|(name, _)| is_known(name)).collect(),
            limits: DesktopLimits::default(),
        })
    }

    /// The same with other commands to choose from.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<String>) -> Self {
        self.commands = commands;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: DesktopLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The directory that everything lies below, with every link resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn commands(&self) -> &[String] {
        &self.commands
    }

    pub(crate) fn limits(&self) -> &DesktopLimits {
        &self.limits
    }

    /// The variables of programs that have nothing to do with the desktop.
    pub(crate) fn plain_environment(&self) -> Vec<(OsString, OsString)> {
        let is_plain = |name: &OsStr| name.to_str().is_some_and(|name| PLAIN.contains(&name));
        self.environment.iter().filter(|(name, _)| is_plain(name)).cloned().collect()
    }

    /// The variables of programs that talk to the desktop.
    pub(crate) fn display_environment(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone()
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().find(|(held, _)| held == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }
}

/// Names of variables alone; their values are nobody's business.
impl fmt::Debug for DesktopConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("DesktopConfig")
            .field("root", &self.root)
            .field("commands", &self.commands)
            .field("environment", &names)
            .field("limits", &self.limits)
            .finish()
    }
}
