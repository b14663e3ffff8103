//! Every Rust file belongs to a crate, so that no test is forgotten and no code lies dead, and no
//! library is built a second time for tests that it does not have.

use crate::tidy::manifest::Manifest;
use crate::tidy::tree::{File, Finding, Tree};

/// Finds files that no `mod` line declares and integration tests that no manifest names.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        for file in tree.rust() {
            let Some(inner) = file.path.strip_prefix(manifest.folder()) else { continue };
            let finding = if inner.starts_with("src/") {
                module(tree, &manifest, file, inner)
            } else if inner.starts_with("tests/") {
                test(tree, &manifest, file, inner)
            } else {
                None
            };
            findings.extend(finding);
        }
        findings.extend(library(tree, &manifest));
    }
    findings
}

/// The manifest of a library says whether there are tests inside it.
fn library(tree: &Tree, manifest: &Manifest) -> Option<Finding> {
    let source = format!("{}src/", manifest.folder());
    tree.file(&format!("{source}lib.rs"))?;
    // Programs beside the library are built on their own.
    let programs = [format!("{source}main.rs"), format!("{source}bin/")];
    let is_library = |file: &&File| {
        file.path.starts_with(&source) && !programs.iter().any(|it| file.path.starts_with(it))
    };
    let has_tests = tree.rust().filter(is_library).any(|file| file.text.contains("#[cfg(test)]"));
    let message = match (has_tests, manifest.tests_library) {
        (true, false) => "[lib] has `test = false`, but there are tests in src, which never run",
        (false, true) => "there are no tests in src: give [lib] `test = false` to build it once",
        _ => return None,
    };
    Some(Finding::new(&manifest.path, 1, message))
}

/// Files that cargo itself finds.
fn is_root(inner: &str) -> bool {
    let parts: Vec<&str> = inner.split('/').collect();
    matches!(
        parts.as_slice(),
        ["src", "lib.rs" | "main.rs"] | ["src", "bin", _] | ["src", "bin", _, "main.rs"]
    )
}

fn module(tree: &Tree, manifest: &Manifest, file: &File, inner: &str) -> Option<Finding> {
    if is_root(inner) {
        return None;
    }
    let (folder, name) = module_place(inner)?;
    let parents = ["/lib.rs", "/main.rs", "/mod.rs", ".rs"];
    let parents = parents.iter().map(|end| format!("{}{folder}{end}", manifest.folder()));
    let declared = parents.filter_map(|path| tree.file(&path)).any(|file| declares(file, name));
    let message = format!("is not registered: no file declares `mod {name};` for it");
    (!declared).then(|| Finding::new(&file.path, 1, message))
}

fn test(tree: &Tree, manifest: &Manifest, file: &File, inner: &str) -> Option<Finding> {
    let depth = inner.split('/').count();
    let is_crate = depth == 2 || (depth == 3 && inner.ends_with("/main.rs"));
    if !is_crate {
        return module(tree, manifest, file, inner);
    }
    let text = &tree.file(&manifest.path)?.text;
    let named = text.contains(&format!("\"{inner}\""));
    let message = format!("is not registered: {} has no [[test]] with its path", manifest.path);
    (!manifest.finds_tests && !named).then(|| Finding::new(&file.path, 1, message))
}

/// The folder of the parent module and the name of the module in a file.
fn module_place(inner: &str) -> Option<(&str, &str)> {
    let module = inner.strip_suffix("/mod.rs").or_else(|| inner.strip_suffix(".rs"))?;
    module.rsplit_once('/')
}

fn declares(file: &File, name: &str) -> bool {
    let declaration = format!("mod {name};");
    let by_path = format!("{name}.rs\"]");
    file.lines().any(|(_, line)| {
        let line = line.trim();
        let declared = line
            .strip_suffix(declaration.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with(' '));
        declared || (line.starts_with("#[path") && line.ends_with(&by_path))
    })
}
