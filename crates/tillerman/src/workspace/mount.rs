//! What is copied into a workspace, and what of it.

use std::path::PathBuf;

/// A file or folder of the host that a workspace gets a copy of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct HostMount {
    pub(crate) host: PathBuf,
    pub(crate) inside: Option<PathBuf>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) links: Links,
}

/// What becomes of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// They are left out.
    #[default]
    Skip,
    /// What they point at is copied, if that lies below an allowed root too.
    Follow,
}

impl HostMount {
    /// A copy of this file or folder, under its own name.
    pub fn new(host: impl Into<PathBuf>) -> Self {
        Self {
            host: host.into(),
            inside: None,
            include: Vec::new(),
            exclude: Vec::new(),
            max_bytes: None,
            links: Links::Skip,
        }
    }

    /// Puts the copy at this place inside the workspace.
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.inside = Some(path.into());
        self
    }

    /// Copies only files that match this pattern or another one given so. A pattern is compared
    /// with the path below the mount and with every end of it, so that `*.rs` and `src/*` mean
    /// what they look like.
    pub fn include(mut self, pattern: impl Into<String>) -> Self {
        self.include.push(pattern.into());
        self
    }

    /// Leaves out files and folders that match this pattern.
    pub fn exclude(mut self, pattern: impl Into<String>) -> Self {
        self.exclude.push(pattern.into());
        self
    }

    /// Fails rather than copy more than this.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets what becomes of symbolic links; without it they are left out.
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }
}
