//! From the path a model wrote to the file it means.

use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// Refuses paths that cannot mean what they seem to.
pub(crate) fn check_path(tool: &str, field: &str, path: &str) -> Result<(), String> {
    let wrong = if path.trim().is_empty() {
        "is empty; give an absolute path"
    } else if path.contains('\0') {
        "contains a NUL character, which no path can"
    } else if path == "~" || path.starts_with("~/") {
        "starts with ~, which only shells expand; give the absolute path"
    } else {
        return Ok(());
    };
    Err(format!("{tool}: {field} {wrong}."))
}

/// The path from the root; relative ones start in the session's directory.
pub(crate) fn absolute(cwd: &Path, path: &str) -> PathBuf {
    cwd.join(path)
}

/// The file a write to this path would reach once every link is followed, even when neither it nor
/// its directory exists yet.
///
/// # Errors
/// When links go round in circles, or `..` follows a directory that does not exist.
pub(crate) fn resolve_target(path: &Path) -> io::Result<PathBuf> {
    let mut current = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match current.canonicalize() {
            Ok(resolved) => return Ok(resolved),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match std::fs::read_link(&current) {
            Ok(target) => current = current.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return resolve_missing(&current),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn resolve_missing(path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors().skip(1) {
        let Ok(resolved) = ancestor.canonicalize() else { continue };
        let Ok(rest) = path.strip_prefix(ancestor) else { break };
        if rest.components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(resolved.join(rest));
        }
        break;
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "a directory on the way does not exist"))
}
