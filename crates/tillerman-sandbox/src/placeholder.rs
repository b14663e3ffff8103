//! Entries that stand where a guarded path is missing, for as long as a command runs.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::confinement::{Guard, GuardKind};

/// An empty entry that covers a missing guarded path. It goes away with the last command, of any
/// process, that needs it: each holds a shared lock on it.
#[derive(Debug)]
pub(crate) struct Placeholder {
    path: PathBuf,
    kind: GuardKind,
    lock: File,
}

/// Why no placeholder could be made.
#[derive(Debug, thiserror::Error)]
#[error("no placeholder for the missing guarded path {} could be made", path.display())]
pub struct PlaceholderError {
    /// The guarded path.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

impl Placeholder {
    /// Makes the entry, or shares the one that another command has made.
    pub(crate) fn make(guard: &Guard) -> Result<Self, PlaceholderError> {
        let failed = |source| PlaceholderError { path: guard.path.clone(), source };
        // The last user of an entry may remove it between its making and its locking.
        for _ in 0..16 {
            match create(guard) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            let lock = match File::open(&guard.path) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            flock(&lock, FlockOperation::LockShared).map_err(|error| failed(error.into()))?;
            if is_same(&guard.path, &lock) {
                return Ok(Self { path: guard.path.clone(), kind: guard.kind, lock });
            }
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// Whether an entry is a placeholder of a command that still runs.
    pub(crate) fn is_in_use(path: &Path, metadata: &Metadata) -> bool {
        let empty = if metadata.is_dir() {
            std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
        } else {
            metadata.is_file() && metadata.len() == 0
        };
        let Some(file) = empty.then(|| File::open(path).ok()).flatten() else { return false };
        let attempt = flock(&file, FlockOperation::NonBlockingLockExclusive);
        attempt == Err(rustix::io::Errno::WOULDBLOCK)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is still the empty entry that was made.
    pub(crate) fn is_untouched(&self) -> bool {
        is_same(&self.path, &self.lock)
            && match self.kind {
                GuardKind::File => self.lock.metadata().is_ok_and(|file| file.len() == 0),
                GuardKind::Directory => {
                    std::fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none())
                }
            }
    }
}

fn create(guard: &Guard) -> io::Result<()> {
    match guard.kind {
        GuardKind::File => {
            OpenOptions::new().write(true).create_new(true).open(&guard.path).map(drop)
        }
        GuardKind::Directory => std::fs::create_dir(&guard.path),
    }
}

fn is_same(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let there = std::fs::symlink_metadata(path).map(identity);
    matches!((there, file.metadata().map(identity)), (Ok(there), Ok(held)) if there == held)
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        let alone = flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !alone || !is_same(&self.path, &self.lock) {
            return;
        }
        // What somebody has put there meanwhile from outside stays: a directory is removed only
        // when it is empty, a file only when it has no content.
        let removed = match self.kind {
            GuardKind::Directory => std::fs::remove_dir(&self.path),
            GuardKind::File if self.lock.metadata().is_ok_and(|file| file.len() == 0) => {
                std::fs::remove_file(&self.path)
            }
            GuardKind::File => Ok(()),
        };
        drop(removed);
    }
}
