//! Removals that would take a system, a home or a workspace with them: no rule, mode or hook approves them.

use std::path::Path;

use crate::place::{Place, tidy};
use crate::shell::{Simple, Word, views};

/// The word for which a command is such a removal.
pub(crate) fn critical_removal<'a>(simple: &'a Simple, place: &Place<'_>) -> Option<&'a Word> {
    let texts: Vec<&str> = simple.words.iter().map(Word::text).collect();
    views(&texts).into_iter().find_map(|view| {
        let name = view.first().and_then(|first| first.rsplit('/').next())?;
        if !matches!(name, "rm" | "rmdir") {
            return None;
        }
        let operands = &simple.words[simple.words.len() - view.len() + 1..];
        operands
            .iter()
            .filter(|word| !word.raw.starts_with('-'))
            .find(|word| is_critical(word, simple, place))
    })
}

fn is_critical(word: &Word, simple: &Simple, place: &Place<'_>) -> bool {
    let Some(shape) = &word.shape else {
        // An empty variable turns `"$X"/etc` into `/etc`.
        return starts_open_then_slash(word);
    };
    let base = simple.likely_directory(place.cwd());
    let mut text = shape.as_str();
    // Everything in a folder is as much as the folder.
    while let Some((folder, last)) = split_last(text) {
        if last.is_empty() && text.len() > 1 || is_everything(last) {
            text = if folder.is_empty() && text.starts_with('/') { "/" } else { folder };
            if text.is_empty() {
                text = ".";
            }
        } else {
            break;
        }
    }
    let directories = if simple.directory.candidates.is_empty() {
        vec![base.to_path_buf()]
    } else {
        simple.directory.candidates.clone()
    };
    directories.iter().any(|from| place.names(text, from).any(|path| holds_too_much(path, place)))
}

fn split_last(text: &str) -> Option<(&str, &str)> {
    match text.rsplit_once('/') {
        Some(split) => Some(split),
        None if is_everything(text) => Some(("", text)),
        None => None,
    }
}

/// Wildcards that leave nothing out.
fn is_everything(name: &str) -> bool {
    !name.is_empty()
        && name.contains('*')
        && name.chars().all(|c| matches!(c, '*' | '?' | '.' | '[' | ']' | '!' | '^'))
}

fn starts_open_then_slash(word: &Word) -> bool {
    let raw = word.raw.trim_start_matches(['"', '\'']);
    let rest = match raw.strip_prefix('$') {
        Some(rest) if rest.starts_with('{') => rest.find('}').map(|end| &rest[end + 1..]),
        Some(rest) if rest.starts_with('(') => rest.rfind(')').map(|end| &rest[end + 1..]),
        Some(rest) => {
            Some(rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        }
        None if raw.starts_with('`') => raw[1..].rfind('`').map(|end| &raw[end + 2..]),
        None => None,
    };
    rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with('/'))
}

/// The root, what lies directly in it, homes, and workspaces with all that is above them.
fn holds_too_much(path: &Path, place: &Place<'_>) -> bool {
    let is_shallow = path.parent().is_none_or(|parent| parent.parent().is_none());
    let is_drive = path.components().count() == 3
        && path.starts_with("/mnt")
        && path.file_name().is_some_and(|name| name.len() == 1);
    let above = |inner: &Path| tidy(inner).starts_with(path);
    is_shallow
        || is_drive
        || place.home.is_some_and(above)
        || place.directories.iter().any(|directory| above(directory))
}
