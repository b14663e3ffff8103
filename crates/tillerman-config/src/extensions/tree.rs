//! Reading files of a tree without ever leaving it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::extensions::problem::Problem;

/// The largest file that is read; memory files of this size are a mistake already.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;
const MOST_FILES: usize = 1_000;
const DEEPEST: usize = 8;

/// Reads a text file of a tree. `Ok(None)` means that there is none.
///
/// Links are followed as long as they stay inside `root`: a repository could otherwise have the
/// agent read keys and passwords to whoever wrote the repository.
pub(crate) fn read(root: &Path, path: &Path) -> Result<Option<String>, Problem> {
    let Some(real) = inside(root, path)? else { return Ok(None) };
    let unreadable = |error: std::io::Error| Problem::new(path, format!("cannot be read: {error}"));
    let metadata = std::fs::metadata(&real).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Problem::new(path, "is not a regular file, so it was left out"));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&real).map_err(unreadable)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Problem::new(path, "is larger than 4 MiB, so it was left out"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::new(path, "is not UTF-8 text, so it was left out"))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// Where a path really lies, if that is inside of a tree; `Ok(None)` when nothing is there.
pub(crate) fn inside(root: &Path, path: &Path) -> Result<Option<PathBuf>, Problem> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(Problem::new(path, format!("cannot be read: {error}"))),
    };
    let root = root.canonicalize();
    match root {
        Ok(root) if real.starts_with(&root) => Ok(Some(real)),
        _ => Err(Problem::new(
            path,
            format!("leads out of {}, so it was left out", root.unwrap_or_default().display()),
        )),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The Markdown files below a directory, in an order that does not change.
pub(crate) fn markdown_files(
    root: &Path,
    directory: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, directory, 0, &mut found, problems);
    found
}

fn collect(
    root: &Path,
    directory: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    problems: &mut Vec<Problem>,
) {
    for path in entries(root, directory, problems) {
        if path.is_dir() {
            if depth < DEEPEST {
                collect(root, &path, depth + 1, found, problems);
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            if found.len() >= MOST_FILES {
                return problems.push(Problem::new(directory, "holds too many files; 1000 count"));
            }
            found.push(path);
        }
    }
}

/// What lies directly in a directory, sorted by name; nothing when there is none.
pub(crate) fn entries(root: &Path, directory: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    // Asked first, so that a place where nothing is costs a single call.
    let Ok(listing) = std::fs::read_dir(directory) else { return Vec::new() };
    match inside(root, directory) {
        Ok(Some(_)) => {}
        Ok(None) => return Vec::new(),
        Err(problem) => {
            problems.push(problem);
            return Vec::new();
        }
    }
    let mut paths: Vec<PathBuf> =
        listing.filter_map(Result::ok).take(MOST_FILES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The root of the repository around a directory: the nearest place that has a `.git`.
pub(crate) fn repository_root(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| above.join(".git").exists())
}

/// The directory itself and those above it up to the root of its repository, nearest first.
pub(crate) fn up_to_repository(directory: &Path) -> Vec<PathBuf> {
    let root = repository_root(directory).unwrap_or(directory);
    let within = directory.ancestors().take_while(|above| above.starts_with(root));
    within.map(Path::to_path_buf).collect()
}
