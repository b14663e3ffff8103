//! Finds the tests and writes the page.

use anyhow::{Context as _, Result, bail};

use crate::coverage::page::{self, Places};
use crate::coverage::rows;
use crate::tidy::Tree;
use crate::workspace;

const SOURCE: &str = "docs/coverage.tsv";
const PAGE: &str = "docs/coverage.md";

/// Writes the page and fails when a section that must be complete is not.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let tree = Tree::load(&root)?;
    let source = tree.file(SOURCE).context("docs/coverage.tsv is missing")?;
    let sections = rows::read(&source.text).context(SOURCE)?;
    let (page, lacking) = page::write(&sections, &tests(&tree));
    std::fs::write(root.join(PAGE), page)?;
    if !lacking.is_empty() {
        bail!("these rows of {SOURCE} have no test: {}", lacking.join(", "));
    }
    Ok(())
}

/// Every function in a file of tests, by name. Tests of one name show the same thing.
fn tests(tree: &Tree) -> Places {
    let mut places = Places::new();
    for file in &tree.files {
        let is_test = file.path.contains("/tests/") || file.path.contains("scenarios/");
        for line in file.text.lines().filter(|_| is_test) {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def "));
            let name = rest.and_then(|rest| rest.split(['(', '<']).next());
            if let Some(name) = name {
                places.entry(name.to_owned()).or_insert_with(|| file.path.clone());
            }
        }
    }
    places
}
