//! The lints that carry house rules are switched on for every crate.

use crate::tidy::tree::{Finding, Tree};

/// Lines that must be there, such as the limit for the length of functions.
const REQUIRED: [(&str, &str); 5] = [
    ("Cargo.toml", "too_many_lines = \"deny\""),
    ("Cargo.toml", "unwrap_used = \"deny\""),
    ("Cargo.toml", "disallowed_methods = \"deny\""),
    ("Cargo.toml", "missing_docs = \"warn\""),
    ("clippy.toml", "too-many-lines-threshold = 70"),
];

/// Finds lints that are configured nowhere and crates that do not take them over.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let has = |path: &str, wanted: &str| {
        tree.file(path).is_some_and(|file| file.lines().any(|(_, line)| line.trim() == wanted))
    };
    let missing = REQUIRED.iter().filter(|(path, wanted)| !has(path, wanted));
    let missing = missing
        .map(|(path, wanted)| Finding::new(path, 1, format!("the line `{wanted}` is missing")));
    let manifests = tree.manifests().into_iter().filter(|manifest| !manifest.inherits_lints);
    let strangers = manifests.map(|manifest| {
        Finding::new(&manifest.path, 1, "add `[lints] workspace = true`: the lints are the rules")
    });
    missing.chain(strangers).collect()
}
