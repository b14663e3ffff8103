//! Files and directories that exist only for the program's own use.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Makes a directory only its owner can enter, with those above it; one that exists stays as it is.
pub(crate) fn make_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A file that is removed when its owner goes, unless it is kept.
#[derive(Debug)]
pub(crate) struct RemovedOnDrop {
    path: PathBuf,
    kept: bool,
}

impl RemovedOnDrop {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, kept: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        if !self.kept {
            // It may never have been made, and there is nobody left to tell.
            std::fs::remove_file(&self.path).ok();
        }
    }
}
