//! Scopes that a server wanted in the middle of its work, kept until somebody signs in again.

use std::io;
use std::path::Path;

use super::credentials::{read_text, replace};

/// How many scopes are remembered; no consent page shows more.
const MOST: usize = 64;
/// How long all of them together may be.
const LONGEST: usize = 4 * 1024;

/// The scopes that are wanted; what cannot be read is asked for again by the server.
pub(super) fn wanted(path: &Path) -> Vec<String> {
    let text = read_text(path).ok().flatten().unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Adds scopes to those that are wanted. A server that wants more than anybody reads gets the first.
pub(super) fn want(path: &Path, scopes: &[String]) -> io::Result<()> {
    let mut all = wanted(path);
    let known = all.len();
    for scope in scopes {
        let length: usize = all.iter().map(|it| it.len() + 1).sum();
        if !all.contains(scope) && all.len() < MOST && length + scope.len() < LONGEST {
            all.push(scope.clone());
        }
    }
    if all.len() == known {
        return Ok(());
    }
    replace(path, all.join(" ").as_bytes())
}
