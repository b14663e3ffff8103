//! Runs all rules over the files of the repository.

use anyhow::{Result, bail};

use crate::tidy::tree::{Finding, Tree};
use crate::tidy::{cited, edges, generated, lints, names, registered, size, unused, wording};
use crate::workspace;

/// Prints every finding as `file:line: message` and fails when there are any.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::load(&workspace::root())?;
    let findings = check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy found {} problems; each line above says where and what to do", findings.len());
    }
    Ok(())
}

fn check(tree: &Tree) -> Vec<Finding> {
    let rules = [
        size::check,
        wording::check,
        names::check,
        registered::check,
        edges::check,
        unused::check,
        lints::check,
        generated::check,
        cited::check,
    ];
    rules.iter().flat_map(|rule| rule(tree)).collect()
}
