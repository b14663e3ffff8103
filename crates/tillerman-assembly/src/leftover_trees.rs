//! Working trees of agents: who works in them, and what becomes of those that nobody works in.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::worktree::Worktree;

/// How many trees are looked at before an agent begins; the others are left for another time.
const AT_MOST: usize = 50;
/// How long that may hold up the agent.
const PATIENCE: Duration = Duration::from_secs(10);

/// The trees of agents that work in a directory, or have.
#[must_use]
pub fn agent_trees(cwd: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(cwd.join(".claude").join("worktrees")) else {
        return Vec::new();
    };
    let is_tree = |entry: &std::fs::DirEntry| {
        let is_named = entry.file_name().to_string_lossy().starts_with("agent-");
        is_named && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut trees: Vec<PathBuf> =
        entries.flatten().filter(is_tree).map(|entry| entry.path()).collect();
    trees.sort();
    trees
}

/// Says by a lock that somebody works in a tree; the system gives it up when the process ends,
/// however it does. Clones are the same hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hold(Arc<Mutex<Option<File>>>);

impl Hold {
    /// Takes hold of a tree, which need not exist yet.
    pub(crate) fn take(&self, tree: &Path) -> Result<(), String> {
        let path = lock_of(tree);
        let unusable = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut options = OpenOptions::new();
        let file =
            options.create(true).write(true).truncate(false).open(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!("somebody else works in {}", tree.display()));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(())
    }

    /// Lets go of a tree; when it is gone, so is the sign that somebody worked in it.
    pub(crate) fn release(&self, tree: &Path) {
        if !tree.exists() {
            // A sign that stays behind tells nothing and does no harm.
            std::fs::remove_file(lock_of(tree)).ok();
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn lock_of(tree: &Path) -> PathBuf {
    tree.with_extension("lock")
}

/// Looks after trees of sessions that were killed, once for each session that makes trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep(Arc<AtomicBool>);

impl Sweep {
    /// Removes trees in which nobody works and nothing was changed; all others stay.
    pub(crate) async fn once(&self, cwd: &Path, environment: &[(OsString, OsString)]) {
        if self.0.swap(true, Ordering::Relaxed) {
            return;
        }
        let sweeping = async {
            for tree in agent_trees(cwd).iter().take(AT_MOST) {
                remove_if_left(tree, cwd, environment).await;
            }
        };
        if tokio::time::timeout(PATIENCE, sweeping).await.is_err() {
            tracing::warn!("looking for working trees of agents that were cut off took too long");
        }
    }
}

async fn remove_if_left(tree: &Path, cwd: &Path, environment: &[(OsString, OsString)]) {
    let name = tree.file_name().unwrap_or_default().to_string_lossy();
    let id = name.strip_prefix("agent-").unwrap_or_default();
    // What is no linked working tree was put there by somebody else.
    if !tree.join(".git").is_file() {
        return;
    }
    let Ok(left) = Worktree::plan(cwd, id, environment) else { return };
    let hold = Hold::default();
    if hold.take(tree).is_err() {
        return;
    }
    match left.leave_behind().await {
        None => tracing::debug!("removed {}, which an agent had left", tree.display()),
        Some(stays) => tracing::debug!("{stays}"),
    }
    hold.release(tree);
}
