//! The workspace itself.

use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, ErrorKind, Result};
use crate::workspace::copy::copy;
use crate::workspace::mount::HostMount;

/// A directory of its own for an agent. It is removed when this is dropped.
#[derive(Debug)]
pub struct Workspace {
    directory: TempDir,
    mounted: Vec<Mounted>,
}

/// What was copied into a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mounted {
    /// Where it came from.
    pub host: PathBuf,
    /// Where it is, below the workspace.
    pub inside: PathBuf,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// A workspace that is being put together.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct WorkspaceBuilder {
    roots: Vec<PathBuf>,
    mounts: Vec<HostMount>,
}

impl Workspace {
    /// An empty workspace, to which mounts can be added.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// What was copied into it.
    #[must_use]
    pub fn mounted(&self) -> &[Mounted] {
        &self.mounted
    }

    /// A section for a prompt that says what is where.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = format!("## Workspace\n\nYou work in {}.", self.path().display());
        if !self.mounted.is_empty() {
            text.push_str(" It holds copies; what you change there changes nothing else.\n");
        }
        for mounted in &self.mounted {
            let inside = mounted.inside.display();
            text.push_str(&format!(
                "\n- `{inside}`: {} files, {} bytes",
                mounted.files, mounted.bytes
            ));
        }
        text
    }

    /// Removes it now, and says when that fails.
    ///
    /// # Errors
    /// [`ErrorKind::Workspace`] when something of it stays behind.
    pub fn close(self) -> Result<()> {
        let path = self.path().to_owned();
        self.directory.close().map_err(|error| {
            let text = format!("the workspace {} could not be removed whole", path.display());
            Error::new(ErrorKind::Workspace, text).because(error)
        })
    }
}

impl WorkspaceBuilder {
    /// Allows copies of what lies below this directory. Nothing else can be mounted.
    pub fn allow_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Adds a copy of something.
    pub fn mount(mut self, mount: HostMount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Makes the workspace and copies everything into it.
    ///
    /// # Errors
    /// [`ErrorKind::Workspace`] when a mount lies outside the allowed roots, when it is larger
    /// than it may be, or when it cannot be read. Nothing stays behind then.
    pub fn build(self) -> Result<Workspace> {
        let directory =
            tempfile::Builder::new().prefix("workspace-").tempdir().map_err(|error| {
                let text = "there is no place for a workspace in the temporary directory";
                Error::new(ErrorKind::Workspace, text).because(error)
            })?;
        let roots: Vec<PathBuf> =
            self.roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
        let mut mounted = Vec::new();
        for mount in &self.mounts {
            let inside = inside(mount)?;
            let copied = copy(mount, &roots, &directory.path().join(&inside))?;
            let host = mount.host.clone();
            mounted.push(Mounted { host, inside, files: copied.files, bytes: copied.bytes });
        }
        Ok(Workspace { directory, mounted })
    }
}

/// Where a mount goes; never out of the workspace.
fn inside(mount: &HostMount) -> Result<PathBuf> {
    let named = mount.inside.clone();
    let inside = named.or_else(|| mount.host.file_name().map(PathBuf::from)).unwrap_or_default();
    let is_inner = inside.components().all(|part| matches!(part, Component::Normal(_)));
    if is_inner && !inside.as_os_str().is_empty() {
        return Ok(inside);
    }
    let text = format!(
        "{} is no place inside a workspace; nothing was copied; give a relative path without `..`",
        inside.display()
    );
    Err(Error::new(ErrorKind::Workspace, text))
}
