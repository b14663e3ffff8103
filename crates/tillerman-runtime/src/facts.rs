//! What the file system says about paths, for policy to judge by.

use std::path::{Component, Path, PathBuf};

use tillerman_policy::{Disk, OtherNames, Policy, Runs};
use tillerman_ports::{Bounds, Hidden};

/// Configuration files of repositories are small; a larger one is not looked into.
const LARGEST_CONFIG: u64 = 1 << 20;

/// Where a call runs that policy has ruled on.
#[must_use]
pub const fn bounds(runs: Runs) -> Bounds {
    match runs {
        Runs::Confined => Bounds::Confined,
        Runs::Free => Bounds::Free,
    }
}

/// What searches must pass over under a policy.
#[must_use]
pub fn hidden(policy: &Policy) -> Hidden {
    policy.unreadable().map_or_else(Hidden::default, |unreadable| {
        Hidden::by(move |path| unreadable.covers(path, &RealDisk))
    })
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug)]
pub struct RealDisk;

impl Disk for RealDisk {
    /// Resolves every link of the part of a path that exists, and keeps the rest as it is named.
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut missing = Vec::new();
        let mut existing = path;
        loop {
            if let Ok(resolved) = existing.canonicalize() {
                return missing.iter().rev().fold(resolved, |path, part| path.join(part));
            }
            let Some(parent) = existing.parent() else { return path.to_path_buf() };
            // A `..` behind something missing leads nowhere; by name it leads back.
            match existing.components().next_back() {
                Some(Component::Normal(name)) => missing.push(name.to_owned()),
                Some(Component::ParentDir) => missing.push("..".into()),
                _ => {}
            }
            existing = parent;
        }
    }

    fn other_names(&self, path: &Path) -> OtherNames {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => count_names(&metadata),
            Ok(_) | Err(_) => OtherNames::None,
        }
    }

    fn repository_names_programs(&self, directory: &Path) -> bool {
        let Some(git) =
            directory.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())
        else {
            return false;
        };
        // A work tree's `.git` is a file that names the repository, which may share another's.
        let folders = if git.is_dir() { vec![git] } else { linked(&git) };
        let files = folders
            .iter()
            .flat_map(|folder| [folder.join("config"), folder.join("config.worktree")]);
        files.filter(|file| file.exists()).any(|file| match small_text(&file) {
            Some(text) => {
                let text = text.to_ascii_lowercase();
                text.contains("external") || text.contains("[include")
            }
            None => true,
        })
    }
}

#[cfg(unix)]
fn count_names(metadata: &std::fs::Metadata) -> OtherNames {
    use std::os::unix::fs::MetadataExt as _;
    if metadata.nlink() > 1 { OtherNames::Some } else { OtherNames::None }
}

#[cfg(not(unix))]
fn count_names(_metadata: &std::fs::Metadata) -> OtherNames {
    OtherNames::Unknown
}

/// The repository that a `.git` file leads to, and the one that it shares.
fn linked(file: &Path) -> Vec<PathBuf> {
    let target = small_text(file)
        .and_then(|text| text.strip_prefix("gitdir:").map(|rest| PathBuf::from(rest.trim())));
    let base = file.parent().unwrap_or(file);
    let Some(repository) = target.map(|target| base.join(target)) else { return Vec::new() };
    let shared = small_text(&repository.join("commondir"))
        .map_or_else(|| repository.clone(), |text| repository.join(text.trim()));
    vec![repository, shared]
}

fn small_text(file: &Path) -> Option<String> {
    let is_small = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= LARGEST_CONFIG);
    is_small.then(|| std::fs::read_to_string(file).ok()).flatten()
}
