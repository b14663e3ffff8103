//! Generated files are as fresh as what they are made from.

use crate::tidy::tree::{Finding, Tree};
use crate::{coverage, typescript};

/// Finds the page's types of the protocol and the table of coverage out of date.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    types(tree).into_iter().chain(coverage(tree)).collect()
}

fn types(tree: &Tree) -> Option<Finding> {
    let file = tree.file(typescript::TARGET)?;
    let message = match typescript::generate(tree) {
        Ok(text) if text == file.text => return None,
        Ok(_) => "is out of date: run `cargo xtask types` and commit the result".to_owned(),
        Err(error) => format!("cannot be generated: {error:#}"),
    };
    Some(Finding::new(typescript::TARGET, 1, message))
}

fn coverage(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(coverage::PAGE) else { return Vec::new() };
    let page = match coverage::generate(tree) {
        Ok(page) => page,
        Err(error) => return vec![Finding::new(coverage::SOURCE, 1, format!("{error:#}"))],
    };
    let mut findings: Vec<Finding> =
        page.problems.iter().map(|problem| Finding::new(coverage::SOURCE, 1, problem)).collect();
    if page.text != file.text {
        let message = "is out of date: run `cargo xtask coverage` and commit the result";
        findings.push(Finding::new(coverage::PAGE, 1, message));
    }
    findings
}
