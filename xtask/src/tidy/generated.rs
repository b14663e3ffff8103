//! Generated files are as fresh as what they are made from.

use crate::tidy::tree::{Finding, Tree};
use crate::typescript;

/// Finds the page's types of the protocol out of date.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(typescript::TARGET) else { return Vec::new() };
    let message = match typescript::generate(tree) {
        Ok(text) if text == file.text => return Vec::new(),
        Ok(_) => "is out of date: run `cargo xtask types` and commit the result".to_owned(),
        Err(error) => format!("cannot be generated: {error:#}"),
    };
    vec![Finding::new(typescript::TARGET, 1, message)]
}
