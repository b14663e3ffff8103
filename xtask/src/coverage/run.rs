//! Finds the tests and writes the page, or says what is wrong with it.

use anyhow::{Context as _, Result, bail};

use crate::coverage::page::{self, Page, Places};
use crate::coverage::rows;
use crate::tidy::Tree;
use crate::workspace;

/// What the page is made from.
pub(crate) const SOURCE: &str = "docs/coverage.tsv";
/// The page.
pub(crate) const PAGE: &str = "docs/coverage.md";

/// What to do with the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Write it anew.
    Write,
    /// Say whether it is as it should be.
    Check,
}

/// Writes or checks the page, and fails when a row does not keep what its section promises.
pub(crate) fn run(purpose: Purpose) -> Result<()> {
    let root = workspace::root();
    let tree = Tree::load(&root)?;
    let page = generate(&tree)?;
    match purpose {
        Purpose::Write => std::fs::write(root.join(PAGE), &page.text)?,
        Purpose::Check if tree.file(PAGE).is_some_and(|file| file.text == page.text) => {}
        Purpose::Check => bail!("{PAGE} is out of date: run `cargo xtask coverage`"),
    }
    if !page.problems.is_empty() {
        bail!("rows of {SOURCE} to put right:\n{}", page.problems.join("\n"));
    }
    Ok(())
}

/// What the page should hold.
pub(crate) fn generate(tree: &Tree) -> Result<Page> {
    let source = tree.file(SOURCE).with_context(|| format!("{SOURCE} is missing"))?;
    let sections = rows::read(&source.text).context(SOURCE)?;
    Ok(page::write(&sections, &tests(tree)))
}

/// Every function in a file of tests, by name, and every golden transcript, by its file's name.
/// Tests of one name show the same thing.
fn tests(tree: &Tree) -> Places {
    let mut places = Places::new();
    let mut add = |name: &str, path: &str| {
        places.entry(name.to_owned()).or_insert_with(|| path.to_owned());
    };
    for file in &tree.files {
        if let Some((_, name)) = file.path.split_once("/testdata/") {
            add(name, &file.path);
        }
        let is_test = file.path.contains("/tests/") || file.path.contains("scenarios/");
        for line in file.text.lines().filter(|_| is_test) {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def "));
            if let Some(name) = rest.and_then(|rest| rest.split(['(', '<']).next()) {
                add(name, &file.path);
            }
        }
    }
    places
}
