//! Finds the sources, generates, and writes the file.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::tidy::Tree;
use crate::typescript::read::Declarations;
use crate::typescript::write::module;
use crate::workspace;

/// The generated file.
pub(crate) const TARGET: &str = "web/src/protocol.ts";

const SOURCES: &str = "crates/tillerman-protocol/src/";
/// What the page speaks of; everything these types mention comes along.
const ROOTS: [&str; 2] = ["Frame", "PermissionUpdate"];

/// Writes the file anew.
pub(crate) fn run() -> Result<()> {
    let text = generate(&Tree::load(&workspace::root())?)?;
    let path: PathBuf = workspace::root().join(TARGET);
    std::fs::write(&path, text).with_context(|| format!("{TARGET} could not be written"))?;
    println!("{TARGET} is written");
    Ok(())
}

/// What the file should hold.
pub(crate) fn generate(tree: &Tree) -> Result<String> {
    let mut declarations = Declarations::default();
    let sources = tree.rust().filter(|file| file.path.starts_with(SOURCES) && !file.is_test());
    for file in sources {
        declarations.read(&file.text).with_context(|| format!("in {}", file.path))?;
    }
    if declarations.is_empty() {
        bail!("there are no types in {SOURCES}");
    }
    module(&declarations, &ROOTS)
}
