//! One memory file and how the model is shown it.

use std::path::{Path, PathBuf};

/// A memory file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFile {
    /// The file.
    pub path: PathBuf,
    /// Whose word it is.
    pub kind: MemoryKind,
    /// What it says, without comments.
    pub text: String,
    /// The file that imports it.
    pub imported_by: Option<PathBuf>,
}

/// A memory file that has become part of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// The file.
    pub path: PathBuf,
    /// Whose word it is.
    pub kind: MemoryKind,
    /// Why it was loaded: `session_start`, `nested_traversal`, `path_glob_match` or `include`.
    pub reason: &'static str,
    /// The patterns under which it applies.
    pub patterns: Option<Vec<String>>,
    /// The file that was looked at.
    pub touched: Option<PathBuf>,
    /// The file that imports it.
    pub imported_by: Option<PathBuf>,
}

impl MemoryFile {
    /// The file as something that was loaded for this reason; an import has its own.
    pub(super) fn loaded(&self, reason: &'static str, touched: Option<&Path>) -> LoadedFile {
        LoadedFile {
            path: self.path.clone(),
            kind: self.kind,
            reason: if self.imported_by.is_some() { "include" } else { reason },
            patterns: None,
            touched: touched.map(Path::to_path_buf),
            imported_by: self.imported_by.clone(),
        }
    }
}

/// Whose word a memory file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The machine's administrator.
    Managed,
    /// The user, for all projects.
    User,
    /// The project, checked in.
    Project,
    /// The user, for this working copy.
    Local,
}

impl MemoryKind {
    /// What hooks are told about a file of this kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "Managed",
            Self::User => "User",
            Self::Project => "Project",
            Self::Local => "Local",
        }
    }

    /// What the model is told about a file of this kind.
    const fn about(self) -> &'static str {
        match self {
            Self::Managed => "instructions of the organization, for every project",
            Self::User => "the user's own instructions, for every project",
            Self::Project => "instructions of the project, checked in with it",
            Self::Local => "the user's own instructions for this project",
        }
    }
}

impl MemoryFile {
    /// The file as the model is shown it.
    #[must_use]
    pub fn shown(&self) -> String {
        let about = self.kind.about();
        format!("Contents of {} ({about}):\n\n{}", self.path.display(), self.text)
    }
}

/// Takes HTML comments out, which are notes to people; those in code stay.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut fenced = false;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        if is_fence(line) {
            fenced = !fenced;
        }
        let opens = line.trim_start().starts_with("<!--");
        if opens
            && !fenced
            && let Some(at) = rest.find("-->")
        {
            rest = rest[at + 3..].trim_start_matches([' ', '\t', '\r']);
            rest = rest.strip_prefix('\n').unwrap_or(rest);
            continue;
        }
        kept.push_str(line);
        rest = &rest[end..];
    }
    kept
}

/// Whether a line begins or ends a block of code.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The names of memory files of one directory, with whose word each is.
pub(super) fn candidates(directory: &Path) -> [(PathBuf, MemoryKind); 3] {
    [
        (directory.join("CLAUDE.md"), MemoryKind::Project),
        (directory.join(".claude/CLAUDE.md"), MemoryKind::Project),
        (directory.join("CLAUDE.local.md"), MemoryKind::Local),
    ]
}
