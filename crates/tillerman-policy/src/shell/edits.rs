//! File commands that acceptEdits mode approves: exact argument lists, every path named.

use super::little_languages::sed_only_prints;
use super::options::{self, Options};

/// A path that an edit touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    /// The path.
    pub(crate) path: String,
    /// Whether things only land in it, so that it may be a working directory itself.
    pub(crate) landing: bool,
}

/// The paths that an edit touches; nothing if the command is not one that is approved.
pub(crate) fn edits(words: &[&str]) -> Option<Vec<Edited>> {
    let (name, rest) = words.split_first()?;
    let operands = |options: &Options, least: usize| {
        let arguments = options::parse(options, rest)?;
        let paths: Vec<Edited> = arguments.operands.iter().map(|path| edited(path)).collect();
        (paths.len() >= least).then_some(paths)
    };
    match *name {
        "mkdir" => operands(&Options::letters("pv", "m").long(&["parents", "verbose", "mode="]), 1),
        "touch" => operands(&Options::letters("acm", "dt").long(&["no-create", "date="]), 1),
        "rm" => operands(
            &Options::letters("rRfvdI", "").long(&["recursive", "force", "verbose", "dir"]),
            1,
        ),
        "rmdir" => operands(&Options::letters("v", "").long(&["verbose"]), 1),
        "mv" => landing(operands(
            &Options::letters("fnuvT", "").long(&[
                "force",
                "no-clobber",
                "update",
                "verbose",
                "no-target-directory",
            ]),
            2,
        )?),
        "cp" => landing(operands(
            &Options::letters("fnuvpT", "").long(&[
                "force",
                "no-clobber",
                "update",
                "verbose",
                "no-target-directory",
            ]),
            2,
        )?),
        "sed" => sed(rest),
        _ => None,
    }
}

fn edited(path: &str) -> Edited {
    Edited { path: path.to_owned(), landing: false }
}

/// The sources, the target, and the files of the same names inside the target.
fn landing(mut paths: Vec<Edited>) -> Option<Vec<Edited>> {
    let mut target = paths.pop()?;
    let mut landed = Vec::new();
    for source in &paths {
        let name = source.path.trim_end_matches('/').rsplit('/').next()?;
        // A name such as `.` would merge whole folders.
        if matches!(name, "" | "." | "..") {
            return None;
        }
        landed.push(edited(&format!("{}/{name}", target.path.trim_end_matches('/'))));
    }
    target.landing = true;
    paths.push(target);
    paths.extend(landed);
    Some(paths)
}

fn sed(words: &[&str]) -> Option<Vec<Edited>> {
    let options = Options::letters("inErs", "e").long(&[
        "in-place",
        "quiet",
        "silent",
        "regexp-extended",
        "expression=",
    ]);
    // `-i` swallows what is attached to it as a suffix, so it must stand alone or last.
    if words.iter().any(|word| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word.contains('i')
            && !word.ends_with('i')
    }) {
        return None;
    }
    let arguments = options::parse(&options, words)?;
    if !arguments.has(&["i", "in-place"]) {
        return None;
    }
    let mut scripts: Vec<&str> = arguments
        .given
        .iter()
        .filter(|(name, _)| matches!(*name, "e" | "expression"))
        .filter_map(|(_, value)| *value)
        .collect();
    let mut paths = arguments.operands.as_slice();
    if scripts.is_empty() {
        let (script, rest) = paths.split_first()?;
        scripts.push(script);
        paths = rest;
    }
    let harmless = scripts.iter().all(|script| sed_only_prints(script));
    (harmless && !paths.is_empty()).then(|| paths.iter().map(|path| edited(path)).collect())
}
