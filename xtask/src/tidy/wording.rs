//! Words and lines that do not belong into the repository.

use crate::tidy::tree::{File, Finding, Tree};

/// Written in pieces, so that this file does not find itself.
const MARKERS: [&str; 3] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimple", "mented!")];
const MACHINE_PATHS: [&str; 2] = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];
const PARENT_GLOB: &str = concat!("use super", "::*");

/// Finds missing first sentences, left-over markers, machine paths and globs of the parent module.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let written = tree.files.iter().filter(|file| !is_generated(file));
    let everywhere = written.flat_map(|file| markers(file).chain(machine_paths(file)));
    let rust = tree.rust().flat_map(|file| first_line(file).into_iter().chain(parent_glob(file)));
    everywhere.chain(rust).collect()
}

fn is_generated(file: &File) -> bool {
    file.path.ends_with(".lock") || file.path.ends_with("package-lock.json")
}

fn first_line(file: &File) -> Option<Finding> {
    let good = file.text.lines().next().is_some_and(|line| line.starts_with("//! "));
    let message = "begin the file with a `//!` sentence that says what it is for";
    (!good).then(|| Finding::new(&file.path, 1, message))
}

fn markers(file: &File) -> impl Iterator<Item = Finding> {
    file.lines().filter_map(|(number, line)| {
        let marker = MARKERS.iter().find(|marker| has_word(line, marker))?;
        let message = format!("{marker}: do it now, or write it down where plans are kept");
        Some(Finding::new(&file.path, number, message))
    })
}

fn machine_paths(file: &File) -> impl Iterator<Item = Finding> {
    file.lines().filter_map(|(number, line)| {
        let path = MACHINE_PATHS.iter().find(|path| has_absolute(line, path))?;
        let message = format!("{path} exists on one machine only: use a relative or made-up path");
        Some(Finding::new(&file.path, number, message))
    })
}

fn parent_glob(file: &File) -> Option<Finding> {
    if file.is_test() {
        return None;
    }
    let mut globs = file.lines().take(lines_before_tests(file)).filter(|(_, line)| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub").map_or(line, |rest| {
            let rest =
                rest.strip_prefix("(crate)").or(rest.strip_prefix("(super)")).unwrap_or(rest);
            rest.trim_start()
        });
        line.starts_with(PARENT_GLOB)
    });
    let (number, _) = globs.next()?;
    let message = "name what you use of the parent: a split without an interface is no split";
    Some(Finding::new(&file.path, number, message))
}

/// How many lines come before an inline test module, if there is one.
fn lines_before_tests(file: &File) -> usize {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let opens = |pair: &[&str]| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    };
    lines.windows(2).position(opens).unwrap_or(lines.len())
}

/// Whether the word stands in the line with no letter, digit or underscore beside it.
fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let after = &line[at + word.len()..];
        !line[..at].ends_with(joins) && !after.starts_with(joins)
    })
}

/// Whether the path stands in the line as the beginning of an absolute path.
fn has_absolute(line: &str, path: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || "_-.~}*/".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(continues))
}
