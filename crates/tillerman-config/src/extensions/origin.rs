//! Where an extension comes from, and what follows from that.

use std::path::PathBuf;

/// Where an extension comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The machine's administrator.
    Managed,
    /// The user's own configuration directory.
    User,
    /// The working copy, which other people may have written.
    Project {
        /// Whether the user trusts it.
        trust: Trust,
    },
    /// A plugin.
    Plugin {
        /// The plugin.
        name: String,
        /// Whether the user chose it, or only the project did.
        trust: Trust,
    },
}

/// Whether the user stands behind what an extension runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// What it names may run, if permission rules say so as well.
    Trusted,
    /// It is text: nothing that it names runs, and it allows nothing.
    #[default]
    Untrusted,
}

impl Origin {
    /// Whether what it names may run and what it allows counts.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        match self {
            Self::Managed | Self::User => Trust::Trusted,
            Self::Project { trust } | Self::Plugin { trust, .. } => *trust,
        }
    }

    /// The word hosts know it by.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project { .. } => "project",
            Self::Plugin { .. } => "plugin",
        }
    }
}

/// A directory with extensions, and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The tree that no link may lead out of.
    pub(crate) root: PathBuf,
    /// The directory inside of it.
    pub(crate) directory: PathBuf,
    pub(crate) origin: Origin,
}
