//! What is wrong with an extension's file.

use std::path::{Path, PathBuf};

/// Why a file could not be used, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", place(path, *line))]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong and what was done about it.
    pub reason: String,
}

impl Problem {
    pub(crate) fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line: None, reason: reason.into() }
    }

    pub(crate) fn at(path: &Path, line: Option<usize>, reason: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line, reason: reason.into() }
    }
}

fn place(path: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}
