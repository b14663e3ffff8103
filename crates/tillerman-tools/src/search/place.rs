//! Where a search looks, and how it names what it finds.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tillerman_ports::{Confiner, Hidden};

use crate::files::absolute;
use crate::session::Session;

/// Directories of version control systems, which nobody means to search.
const VERSION_CONTROL: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".sl"];

/// The place of a search.
#[derive(Debug)]
pub(super) struct Place {
    /// The file or directory to search.
    pub(super) root: PathBuf,
    cwd: PathBuf,
    confiner: Option<Arc<dyn Confiner>>,
    hidden: Hidden,
}

impl Place {
    /// The place a model named, or the session's directory.
    pub(super) fn find(
        session: &Session,
        path: Option<&str>,
        hidden: Hidden,
    ) -> Result<Self, String> {
        let cwd = session.config().cwd.clone();
        let root = path.map_or_else(|| cwd.clone(), |path| absolute(&cwd, path));
        match std::fs::metadata(&root) {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => {
                let confiner = session.config().confiner.clone();
                Ok(Self { root, cwd, confiner, hidden })
            }
            Ok(_) => Err(format!("{} is neither a file nor a directory.", root.display())),
            Err(error) => Err(format!(
                "{} cannot be searched: {error}. The session's directory is {}.",
                root.display(),
                cwd.display()
            )),
        }
    }

    /// Which entries a search may look at: all that neither the session nor its rules hide.
    pub(super) fn passes(&self) -> impl Fn(&ignore::DirEntry) -> bool + Send + Sync + 'static {
        let (confiner, hidden) = (self.confiner.clone(), self.hidden.clone());
        let root = self.root.clone();
        // Links are not followed on the way, so only the root can have another name.
        let real_root = root.canonicalize().unwrap_or_else(|_| root.clone());
        move |entry| {
            let path = entry.path();
            if confiner.as_ref().is_some_and(|confiner| confiner.hides(path)) {
                return false;
            }
            if hidden.is_nothing() {
                return true;
            }
            let below = path.strip_prefix(&root).unwrap_or(path);
            !hidden.covers(path) && !hidden.covers(&real_root.join(below))
        }
    }

    /// A path as models and hosts see it: from the session's directory where it lies inside.
    pub(super) fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Whether a directory entry belongs to version control.
pub(super) fn is_version_control(entry: &ignore::DirEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_some_and(|kind| kind.is_dir())
        && VERSION_CONTROL.iter().any(|name| entry.file_name() == *name)
}

/// A file in the order of change, the newest first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ByChange {
    changed: Reverse<Option<SystemTime>>,
    pub(super) path: PathBuf,
}

impl ByChange {
    pub(super) fn new(path: PathBuf) -> Self {
        let changed = std::fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
        Self { changed: Reverse(changed.ok()), path }
    }
}
