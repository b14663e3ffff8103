//! Files stay small enough to be read in one sitting.

use crate::tidy::tree::{File, Finding, Tree};

const SOURCE_LINES: usize = 500;
const TEST_LINES: usize = 800;

/// Files that are over the budget, with their present size. It may only shrink.
const OVER_BUDGET: &[(&str, usize)] = &[];

/// Finds Rust files over the budget, and entries of the exceptions that can be lowered.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, OVER_BUDGET)
}

/// The same with other exceptions.
pub(crate) fn check_with(tree: &Tree, exceptions: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        tree.rust().filter_map(|file| check_file(file, exceptions)).collect();
    for (path, _) in exceptions {
        if tree.file(path).is_none() {
            findings.push(Finding::new(path, 1, "is gone: remove its entry from OVER_BUDGET"));
        }
    }
    findings
}

fn check_file(file: &File, exceptions: &[(&str, usize)]) -> Option<Finding> {
    let lines = file.text.lines().count();
    let budget = if file.is_test() { TEST_LINES } else { SOURCE_LINES };
    let exception = exceptions.iter().find(|(path, _)| *path == file.path).map(|(_, size)| *size);
    let message = match exception {
        None if lines > budget => {
            format!("has {lines} lines, {budget} are allowed: split it along an interface")
        }
        Some(_) if lines <= budget => {
            "is within the budget now: remove its entry from OVER_BUDGET".to_owned()
        }
        Some(size) if lines < size => {
            format!("has shrunk to {lines} lines: lower its entry in OVER_BUDGET")
        }
        Some(size) if lines > size => {
            format!("has grown from {size} to {lines} lines: files in OVER_BUDGET only shrink")
        }
        _ => return None,
    };
    Some(Finding::new(&file.path, lines.min(budget + 1), message))
}
