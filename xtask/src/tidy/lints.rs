//! The lints that carry house rules are switched on for every crate.

use crate::tidy::manifest::Manifest;
use crate::tidy::tree::{Finding, Tree};

/// Lines that must be there, such as the limit for the length of functions.
const REQUIRED: [(&str, &str); 5] = [
    ("Cargo.toml", "too_many_lines = \"deny\""),
    ("Cargo.toml", "unwrap_used = \"deny\""),
    ("Cargo.toml", "disallowed_methods = \"deny\""),
    ("Cargo.toml", "missing_docs = \"warn\""),
    ("clippy.toml", "too-many-lines-threshold = 70"),
];

/// Crates with a table of lints of their own, which must hold every line of the workspace's. The
/// sandbox is the only one that may argue for `unsafe`, and adds rules for how to.
const OWN_TABLES: [&str; 1] = ["tillerman-sandbox"];

/// Finds lints that are configured nowhere and crates that do not take them over.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let has = |path: &str, wanted: &str| {
        tree.file(path).is_some_and(|file| file.lines().any(|(_, line)| line.trim() == wanted))
    };
    let missing = REQUIRED.iter().filter(|(path, wanted)| !has(path, wanted));
    let missing = missing
        .map(|(path, wanted)| Finding::new(path, 1, format!("the line `{wanted}` is missing")));
    let manifests = tree.manifests().into_iter();
    let manifests = manifests.filter(|it| !it.inherits_lints && !has_own_table(it));
    let strangers = manifests.map(|manifest| {
        Finding::new(&manifest.path, 1, "add `[lints] workspace = true`: the lints are the rules")
    });
    missing.chain(strangers).chain(own_tables(tree)).collect()
}

/// Finds lints of the workspace that a crate with a table of its own does not have.
fn own_tables(tree: &Tree) -> Vec<Finding> {
    let Some(workspace) = tree.file("Cargo.toml") else { return Vec::new() };
    let manifests = tree.manifests().into_iter().filter(has_own_table);
    let mut findings = Vec::new();
    for manifest in manifests {
        let Some(own) = tree.file(&manifest.path) else { continue };
        let own = table(&own.text, "[lints.");
        let missing = table(&workspace.text, "[workspace.lints.");
        for line in missing.iter().filter(|line| !own.contains(line)) {
            let message = format!("`{line}` of the workspace's lints is missing here");
            findings.push(Finding::new(&manifest.path, 1, message));
        }
    }
    findings
}

fn has_own_table(manifest: &Manifest) -> bool {
    OWN_TABLES.contains(&manifest.name.as_str())
}

/// The lines of the tables whose names begin like this.
fn table<'a>(text: &'a str, begins: &str) -> Vec<&'a str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.starts_with(begins);
        } else if inside && line.contains('=') && !line.starts_with('#') {
            lines.push(line);
        }
    }
    lines
}
