//! What the file system says about a call, gathered before policy judges it.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use tillerman_policy::{Facts, PathFact};
use tillerman_protocol::tool::{Access, ToolSpec};

/// What was found out about a call.
pub(crate) struct Gathered {
    only_looks: bool,
    path: Option<PathFact>,
}

impl Gathered {
    pub(crate) fn as_facts<'a>(&self, tool: &'a str, input: &'a Value) -> Facts<'a> {
        Facts { tool, input, only_looks: self.only_looks, path: self.path.clone() }
    }
}

pub(crate) fn gather(spec: &ToolSpec, input: &Value, directories: &[PathBuf]) -> Gathered {
    let named = ["file_path", "notebook_path", "path"]
        .iter()
        .find_map(|field| input.get(*field))
        .and_then(Value::as_str);
    let path = named.map(|named| {
        let base = directories.first().map_or(Path::new("/"), PathBuf::as_path);
        let named = tidy(&base.join(named));
        PathFact { resolved: resolve(&named), named }
    });
    Gathered { only_looks: spec.access == Access::ReadOnly, path }
}

/// Removes `.` and `..` by name alone.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidied.pop();
            }
            part => tidied.push(part),
        }
    }
    tidied
}

/// Resolves every link of the part of a path that exists, and keeps the rest as it is named.
fn resolve(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(resolved) = existing.canonicalize() {
            return missing.iter().rev().fold(resolved, |path, part| path.join(part));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                existing = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}
