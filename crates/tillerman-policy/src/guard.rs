//! Files that the host guards: never written through any tool or command, in any mode.

use std::path::{Component, Path, PathBuf};

use crate::glob::{self, Case};
use crate::place::{Names, Place};
use crate::protected::looks_like;

/// The files that a host guards.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The files.
    pub guarded: Vec<Guarded>,
}

/// A guarded file, or many of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// Every file or folder of this name, and everything in such a folder.
    Name(String),
    /// Every path that contains this text.
    Fragment(String),
    /// This absolute path and everything below it.
    Path(PathBuf),
}

impl Guarded {
    /// Reads what a host wrote: an absolute path, a part of a path, or a name.
    ///
    /// A trailing slash is only for the eye: names of folders guard their contents anyway.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let trimmed = text.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(text);
        if trimmed.starts_with('/') {
            Self::Path(PathBuf::from(trimmed))
        } else if trimmed.contains('/') {
            Self::Fragment(trimmed.to_owned())
        } else {
            Self::Name(trimmed.to_owned())
        }
    }

    fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Name(name) => path.components().any(|part| match part {
                Component::Normal(part) => looks_like(&part.to_string_lossy(), name),
                _ => false,
            }),
            Self::Fragment(fragment) => {
                path.to_string_lossy().to_lowercase().contains(&fragment.to_lowercase())
            }
            Self::Path(guarded) => path.starts_with(guarded),
        }
    }

    /// The text by which a command would mention it.
    fn mention(&self) -> String {
        match self {
            Self::Name(text) | Self::Fragment(text) => text.to_lowercase(),
            Self::Path(path) => path
                .file_name()
                .map(|name| name.to_string_lossy().to_lowercase())
                .unwrap_or_default(),
        }
    }
}

impl Guard {
    /// Whether a file is guarded.
    pub(crate) fn covers(&self, names: &Names) -> bool {
        self.guarded.iter().any(|guarded| names.any(|name| guarded.covers(name)))
    }

    /// Whether a guarded file lies below a folder, so that removing the folder removes it.
    pub(crate) fn lies_below(&self, names: &Names) -> bool {
        self.guarded.iter().any(|guarded| match guarded {
            Guarded::Path(path) => names.any(|name| path.starts_with(name)),
            Guarded::Name(_) | Guarded::Fragment(_) => false,
        })
    }

    /// The guarded file that a path with wildcards could be.
    pub(crate) fn could_cover(&self, pattern: &str) -> Option<String> {
        let parts = || {
            pattern.split('/').filter(|part| part.chars().any(|c| !matches!(c, '*' | '?' | '\\')))
        };
        self.guarded.iter().find_map(|guarded| {
            let name = match guarded {
                Guarded::Name(name) => name.clone(),
                Guarded::Fragment(_) | Guarded::Path(_) => guarded.mention(),
            };
            parts().any(|part| glob::matches(part, &name, Case::Folded)).then_some(name)
        })
    }

    /// The guarded file that a text mentions.
    pub(crate) fn mentioned_in(&self, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        self.guarded
            .iter()
            .map(Guarded::mention)
            .find(|name| !name.is_empty() && text.contains(name))
    }

    /// The names a host gave, for showing what a file could be.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.guarded.iter().filter_map(|guarded| match guarded {
            Guarded::Name(name) | Guarded::Fragment(name) => Some(name.as_str()),
            Guarded::Path(path) => path.to_str(),
        })
    }
}

/// A path as people know it: relative to the working directory where it lies inside.
pub(crate) fn shown(path: &Path, place: &Place<'_>) -> String {
    match path.strip_prefix(place.cwd()) {
        Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
        _ => path.display().to_string(),
    }
}
