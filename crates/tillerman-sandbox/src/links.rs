//! Other names of files that are guarded or secret: a hard link is the same file.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many entries are looked at before the search gives up.
const MOST_ENTRIES: usize = 1_000_000;

/// Why a file matters.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    /// It must not be read.
    Secret,
    /// It must not be written.
    Guard,
}

/// Another name of a file that matters.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OtherName {
    /// The name.
    pub(crate) path: PathBuf,
    /// Why the file matters.
    pub(crate) concern: Concern,
}

/// Why not all other names are known.
#[derive(Debug, thiserror::Error)]
pub enum SearchLinksError {
    /// There is too much to look through.
    #[error(
        "a guarded file has other names (hard links), and the writable directories hold more than \
         {MOST_ENTRIES} entries to look for them; copy the file so that it has one name"
    )]
    TooMany,
    /// A directory could not be looked through.
    #[error("{} could not be looked through", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Finds other names of the files in and below `concerns` in the writable directories.
#[cfg(target_os = "linux")]
pub(crate) fn search(
    concerns: &[(PathBuf, Concern)],
    writable: &[PathBuf],
) -> Result<Vec<OtherName>, SearchLinksError> {
    let mut wanted: HashMap<(u64, u64), Concern> = HashMap::new();
    let mut budget = MOST_ENTRIES;
    for (path, concern) in concerns {
        walk(path, &[], &mut budget, &mut |_, metadata| {
            if metadata.is_file() && metadata.nlink() > 1 {
                let known = wanted.entry((metadata.dev(), metadata.ino())).or_insert(*concern);
                if *concern == Concern::Secret {
                    *known = Concern::Secret;
                }
            }
        })?;
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let known: Vec<&Path> = concerns.iter().map(|(path, _)| path.as_path()).collect();
    let mut found = Vec::new();
    for root in writable {
        walk(root, &known, &mut budget, &mut |path, metadata| {
            if let Some(concern) = wanted.get(&(metadata.dev(), metadata.ino())) {
                found.push(OtherName { path: path.to_path_buf(), concern: *concern });
            }
        })?;
    }
    Ok(found)
}

/// Whether a file has a name in one of these trees.
pub(crate) fn holds(trees: &[PathBuf], file: (u64, u64)) -> Result<bool, SearchLinksError> {
    let (mut budget, mut found) = (MOST_ENTRIES, false);
    for tree in trees {
        walk(tree, &[], &mut budget, &mut |_, metadata| {
            found |= (metadata.dev(), metadata.ino()) == file;
        })?;
    }
    Ok(found)
}

/// Visits a path and everything below it without following links or entering `except`.
fn walk(
    start: &Path,
    except: &[&Path],
    budget: &mut usize,
    visit: &mut dyn FnMut(&Path, &std::fs::Metadata),
) -> Result<(), SearchLinksError> {
    let mut waiting = vec![start.to_path_buf()];
    while let Some(path) = waiting.pop() {
        *budget = budget.checked_sub(1).ok_or(SearchLinksError::TooMany)?;
        if except.contains(&path.as_path()) {
            continue;
        }
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        visit(&path, &metadata);
        if !metadata.is_dir() {
            continue;
        }
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            // The command runs with no more rights than this process, so it cannot look either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(SearchLinksError::Unreadable { path, source }),
        };
        waiting.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    Ok(())
}
