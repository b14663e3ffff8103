//! Imports: `@path` in a memory file brings another file in.

use std::path::{Component, Path, PathBuf};

use crate::extensions::memory::file::{MemoryKind, is_fence};
use crate::extensions::origin::Trust;

/// How far a chain of imports may reach.
pub(super) const MOST_HOPS: usize = 4;
const MOST_IMPORTS: usize = 64;

/// The paths that a text imports, as they are written; code is left alone.
pub(super) fn mentioned(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if is_fence(line) {
            fenced = !fenced;
        } else if !fenced {
            in_line(line, &mut found);
        }
        if found.len() >= MOST_IMPORTS {
            break;
        }
    }
    found
}

fn in_line(line: &str, found: &mut Vec<String>) {
    // Every second piece between backticks is code.
    for (at, piece) in line.split('`').enumerate() {
        if at % 2 == 1 {
            continue;
        }
        for word in piece.split_whitespace() {
            let Some(path) = word.strip_prefix('@') else { continue };
            let path = path.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
            // A mention of a person or a package is not a path.
            let is_path = path.contains(['/', '.']) && !path.contains('@');
            if is_path && !found.iter().any(|held| held == path) {
                found.push(path.to_owned());
            }
        }
    }
}

/// Who imports, and therefore what may be imported.
#[derive(Clone, Debug)]
pub(super) struct Importer<'a> {
    pub(super) kind: MemoryKind,
    /// The root of the project, without links.
    pub(super) project: &'a Path,
    pub(super) home: Option<&'a Path>,
    pub(super) trust: Trust,
}

/// What becomes of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Import {
    /// It is read from here, as the word of this kind.
    Read(PathBuf, MemoryKind),
    /// There is no such file; the mention may be no import at all.
    Missing,
    /// It must not be read.
    Refused(&'static str),
}

impl Importer<'_> {
    /// Decides about an import of a file.
    pub(super) fn resolve(&self, file: &Path, mention: &str) -> Import {
        let path = match (mention.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => return Import::Missing,
            (None, _) => file.parent().unwrap_or(file).join(mention),
        };
        let Ok(real) = path.canonicalize() else { return Import::Missing };
        if !real.is_file() {
            return Import::Missing;
        }
        if real.starts_with(self.project) {
            // What lies in the project is the project's word, whoever imports it.
            return Import::Read(real, self.kind.max_project());
        }
        match (self.kind, self.trust) {
            (MemoryKind::Managed | MemoryKind::User, _) => Import::Read(real, self.kind),
            (_, Trust::Untrusted) => Import::Refused(
                "lies outside of the project, and files of a project may only import files of it",
            ),
            (_, Trust::Trusted) if !is_document(&real) => Import::Refused(
                "lies outside of the project and is not a plain text document in an open folder",
            ),
            (_, Trust::Trusted) => Import::Read(real, self.kind),
        }
    }
}

impl MemoryKind {
    const fn max_project(self) -> Self {
        match self {
            Self::Local => Self::Local,
            Self::Managed | Self::User | Self::Project => Self::Project,
        }
    }
}

/// Whether a file is a document that nobody would keep a key in.
fn is_document(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_hidden = |part: Component<'_>| match part {
        Component::Normal(name) => name != ".claude" && name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    matches!(ending, "md" | "markdown" | "txt") && !path.components().any(is_hidden)
}
