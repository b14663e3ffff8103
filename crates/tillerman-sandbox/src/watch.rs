//! Noticing that guarded paths are not as they were, should every wall have failed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::egress::{Violation, ViolationKind};
use crate::layout::{Access, Layout, Mount};

/// How many entries of a guarded directory are looked at.
const MOST_ENTRIES: usize = 4096;

/// What guarded paths were like before a command.
#[derive(Debug, Default)]
pub(crate) struct GuardWatch {
    prints: Vec<(PathBuf, u64)>,
}

impl GuardWatch {
    /// Takes down what the guarded paths of a layout are like.
    pub(crate) fn begin(layout: &Layout) -> Self {
        let guarded = layout.mounts.iter().filter(|(at, mount)| {
            let inside = |access: Access, root: &Path| {
                access == Access::Writable && at.starts_with(root) && *at != root
            };
            let is_guard =
                matches!(mount, Mount::Bind { source, access: Access::ReadOnly } if source == *at);
            is_guard
                && layout.mounts.iter().any(|(root, mount)| {
                    matches!(mount, Mount::Bind { access, .. } if inside(*access, root))
                })
        });
        Self { prints: guarded.map(|(at, _)| (at.clone(), print(at))).collect() }
    }

    /// Finds the paths that have changed.
    pub(crate) fn compare(&self) -> Vec<Violation> {
        let changed = self.prints.iter().filter(|(path, before)| print(path) != *before);
        changed.map(|(path, _)| Self::violation(path)).collect()
    }

    /// A guarded path that is not as it was.
    pub(crate) fn violation(path: &Path) -> Violation {
        let text = format!(
            "the guarded path {} changed while a command ran; look at it before you go on",
            path.display()
        );
        Violation { kind: ViolationKind::File, text }
    }
}

/// A number that changes whenever the path or something below it does.
fn print(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut waiting = vec![path.to_path_buf()];
    let mut budget = MOST_ENTRIES;
    while let Some(path) = waiting.pop() {
        let Some(left) = budget.checked_sub(1) else { break };
        budget = left;
        path.hash(&mut hasher);
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        (metadata.ino(), metadata.size(), metadata.mode()).hash(&mut hasher);
        (metadata.ctime(), metadata.ctime_nsec()).hash(&mut hasher);
        if metadata.is_dir()
            && let Ok(entries) = std::fs::read_dir(&path)
        {
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            waiting.extend(paths);
        }
    }
    hasher.finish()
}
