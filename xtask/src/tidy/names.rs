//! Crates and modules have names that say what belongs into them.

use crate::tidy::tree::{Finding, Tree};

/// Names under which everything piles up sooner or later.
const BANNED: [&str; 7] = ["core", "common", "util", "utils", "helper", "helpers", "manager"];

/// Finds crates and modules with such names.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        if let Some(name) = manifest.name.split('-').find(|part| BANNED.contains(part)) {
            findings.push(Finding::new(&manifest.path, 1, complaint("crate", name)));
        }
    }
    for file in tree.rust() {
        let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
        if let Some(name) = path.split('/').find(|part| BANNED.contains(part)) {
            findings.push(Finding::new(&file.path, 1, complaint("module", name)));
        }
        for (number, line) in file.lines() {
            if let Some(name) = inline_module(line).filter(|name| BANNED.contains(name)) {
                findings.push(Finding::new(&file.path, number, complaint("module", name)));
            }
        }
    }
    findings
}

fn complaint(what: &str, name: &str) -> String {
    format!("a {what} called {name} collects everything: name it after what belongs there")
}

/// The name of the module that a line opens, if it opens one.
fn inline_module(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("mod ")?;
    let visibility = before.trim();
    let opens = visibility.is_empty() || visibility.starts_with("pub");
    let name = rest.split([' ', '{', ';']).next()?;
    (opens && rest.trim_end().ends_with('{')).then_some(name)
}
