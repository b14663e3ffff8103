//! The files that the rules look at, and what the rules say about them.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::tidy::manifest::Manifest;
use crate::workspace;

/// The text files of the repository.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

/// One text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the repository, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Something to put right.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// A finding on a line, counted from 1.
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl Tree {
    /// Reads all files that git tracks or would track. Files that are no text are left out.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let listing = workspace::output(
            "git",
            &["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        )?;
        let paths = listing.split('\0').filter(|path| !path.is_empty());
        let files = paths.filter_map(|path| {
            // A file that was deleted but not yet committed is listed and cannot be read.
            let text = std::fs::read_to_string(root.join(path)).ok()?;
            Some(File { path: path.to_owned(), text })
        });
        Ok(Self { files: files.collect() })
    }

    /// A tree of these files, each a path and a text.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        Self { files: files.iter().map(file).collect() }
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// A file by its path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The manifests of all crates.
    pub(crate) fn manifests(&self) -> Vec<Manifest> {
        let files = self.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
        files.map(|file| Manifest::parse(&file.path, &file.text)).collect()
    }
}

impl File {
    /// Whether the file holds tests only: `tests.rs`, anything below a module `tests`, or an
    /// integration test.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|part| part == "tests")
    }

    /// The lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}
