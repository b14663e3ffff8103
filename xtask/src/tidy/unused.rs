//! Dependencies that no line of code uses.

use crate::tidy::manifest::{Dependency, Manifest};
use crate::tidy::tree::{File, Finding, Tree};

/// Finds them by looking for the crate's name at the beginning of a path.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        let files: Vec<&File> =
            tree.rust().filter(|file| file.path.starts_with(manifest.folder())).collect();
        let production = files.iter().filter(|file| !file.is_test()).copied();
        findings.extend(unused(&manifest, &manifest.dependencies, &production.collect::<Vec<_>>()));
        findings.extend(unused(&manifest, &manifest.dev_dependencies, &files));
    }
    findings
}

fn unused(manifest: &Manifest, dependencies: &[Dependency], files: &[&File]) -> Vec<Finding> {
    let candidates = dependencies.iter().filter(|it| !it.for_features);
    let unused = candidates.filter(|it| {
        let name = it.name.replace('-', "_");
        !files.iter().any(|file| file.lines().any(|(_, line)| uses(line, &name)))
    });
    unused
        .map(|it| {
            let message = format!(
                "{} is not used: remove it, or say `# for its features` behind it",
                it.name
            );
            Finding::new(&manifest.path, it.line, message)
        })
        .collect()
}

/// Whether the line names the crate as the beginning of a path or imports it whole.
fn uses(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let imported = before.trim_start().ends_with("use ") || before.ends_with("extern crate ");
        let whole = after.starts_with(';') || after.starts_with(" as ");
        begins_path(before) && (after.starts_with("::") || (imported && whole))
    })
}

/// Whether what stands before a name allows it to be the first part of a path.
fn begins_path(before: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    match before.strip_suffix("::") {
        Some(before) => !before.ends_with(in_name),
        None => !before.ends_with(in_name),
    }
}
