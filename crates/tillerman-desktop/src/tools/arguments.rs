//! Whether the arguments of a command stay below the root.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Options with which commands that only look would do more, or follow links out.
const REFUSED: [(&str, &[&str]); 3] = [
    ("date", &["-s", "--set"]),
    ("grep", &["-R", "--dereference-recursive"]),
    ("ls", &["-L", "-H", "--dereference", "--dereference-command-line"]),
];

/// Refuses arguments that lead out of the root, and options that follow links or change things.
///
/// Without knowing every command, every part of an argument that could be a path is taken for one:
/// the whole, what follows an equals sign, and what follows the letters of short options.
pub(crate) fn check(root: &Path, command: &str, arguments: &[&str]) -> Result<(), String> {
    let mut options_are_over = false;
    for argument in arguments {
        if !options_are_over && *argument == "--" {
            options_are_over = true;
            continue;
        }
        if !options_are_over && let Some(option) = refused_option(command, argument) {
            return Err(format!("{command} was not run: {option} is not allowed here."));
        }
        if let Some(path) = candidates(argument).into_iter().find(|path| leads_out(root, path)) {
            return Err(format!(
                "{command} was not run: {path} leads out of {}, and only what is below that \
                 directory can be reached.",
                root.display()
            ));
        }
    }
    Ok(())
}

fn refused_option(command: &str, argument: &str) -> Option<String> {
    let (_, refused) = REFUSED.iter().find(|(name, _)| *name == command)?;
    let long = argument.split('=').next().unwrap_or_default();
    refused.iter().copied().find_map(|option| {
        let is_meant = match option.strip_prefix("--") {
            // Long options can be cut short.
            Some(_) => long.len() > 2 && option.starts_with(long),
            None => {
                let letter = option.chars().nth(1)?;
                let options = argument.strip_prefix('-').unwrap_or_default();
                options.chars().take_while(char::is_ascii_alphabetic).any(|it| it == letter)
            }
        };
        is_meant.then(|| option.to_owned())
    })
}

fn candidates(argument: &str) -> Vec<&str> {
    let mut candidates = vec![argument];
    if argument.starts_with('-') {
        candidates.extend(argument.split_once('=').map(|(_, value)| value));
    }
    if argument.starts_with('-') && !argument.starts_with("--") {
        let ends = argument.char_indices().skip(2).map(|(start, _)| &argument[start..]);
        candidates.extend(ends);
    }
    candidates
}

/// Whether a text, taken as a path, means something outside. A text that begins with a slash but
/// names nothing that exists, such as a pattern, does not.
fn leads_out(root: &Path, text: &str) -> bool {
    let path = root.join(text);
    let named = tidy(&path);
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    if !named.starts_with(root) {
        let above = named.parent().filter(|above| above.parent().is_some());
        return exists(&named) || above.is_some_and(exists) || text.split('/').any(|it| it == "..");
    }
    match deepest_existing(&path) {
        Some(real) => !real.starts_with(root),
        // Links that go round in circles lead nowhere, but nobody knows that for sure.
        None => true,
    }
}

/// The existing part of a path with its links resolved. A link that leads to nothing exists.
fn deepest_existing(path: &Path) -> Option<PathBuf> {
    for part in path.ancestors() {
        if let Ok(real) = part.canonicalize() {
            return Some(real);
        }
        if part.symlink_metadata().is_ok() {
            return None;
        }
    }
    None
}

fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                tidied.pop();
            }
            Component::CurDir => {}
            other => tidied.push(AsRef::<OsStr>::as_ref(&other)),
        }
    }
    tidied
}
