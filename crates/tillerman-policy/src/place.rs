//! Where paths lead: their names, and whether they lie inside the working directories.

use std::path::{Component, Path, PathBuf};

/// What only a disk can tell. The crate never looks itself.
pub trait Disk {
    /// An absolute path with every link of its existing part resolved.
    fn resolve(&self, path: &Path) -> PathBuf;

    /// What is known about further names of the file, which are hard links.
    fn other_names(&self, path: &Path) -> OtherNames;

    /// Whether the git repository around a directory names a program for diffs in its own
    /// configuration, which no environment variable can switch off.
    fn repository_names_programs(&self, directory: &Path) -> bool;
}

/// Whether a file has names besides the one it was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherNames {
    /// It has none, or does not exist yet.
    None,
    /// It has at least one, and nobody knows which.
    Some,
    /// Nobody looked.
    Unknown,
}

/// A disk that nobody can look at: every path is taken by its name.
#[derive(Clone, Copy, Debug)]
pub struct Unseen;

impl Disk for Unseen {
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn other_names(&self, _path: &Path) -> OtherNames {
        OtherNames::Unknown
    }

    fn repository_names_programs(&self, _directory: &Path) -> bool {
        false
    }
}

/// A path by all its names: as it was written, without detours through `/proc`, links resolved.
///
/// Allowing needs every name to fit, denying any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    all: Vec<PathBuf>,
}

impl Names {
    /// The path as people know it.
    pub(crate) fn shown(&self) -> &Path {
        self.all.last().map_or(Path::new("/"), PathBuf::as_path)
    }

    pub(crate) fn any(&self, fits: impl Fn(&Path) -> bool) -> bool {
        self.all.iter().any(|name| fits(name))
    }

    pub(crate) fn all(&self, fits: impl Fn(&Path) -> bool) -> bool {
        self.all.iter().all(|name| fits(name))
    }

    pub(crate) fn add(&mut self, more: &Self) {
        for name in &more.all {
            if !self.all.contains(name) {
                self.all.push(name.clone());
            }
        }
    }
}

/// The surroundings that paths are judged in.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The working directory first, then further ones.
    pub(crate) directories: &'a [PathBuf],
    /// The home directory of the user.
    pub(crate) home: Option<&'a Path>,
    /// The disk.
    pub(crate) disk: &'a dyn Disk,
}

impl Place<'_> {
    pub(crate) fn cwd(&self) -> &Path {
        self.directories.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// The names of a path as a file tool or a shell was given it.
    pub(crate) fn names(&self, text: &str, base: &Path) -> Names {
        let joined = match (text.strip_prefix('~'), self.home) {
            (Some(""), Some(home)) => home.to_path_buf(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
            _ => base.join(text),
        };
        let named = tidy(&joined);
        let plain = without_proc(&named, self.cwd());
        let mut all = vec![named];
        for name in [tidy(&self.disk.resolve(&joined)), tidy(&self.disk.resolve(&plain)), plain] {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Names { all }
    }

    /// Whether every name of the path lies in a working directory.
    pub(crate) fn contains(&self, names: &Names) -> bool {
        names.all(|name| self.directories.iter().any(|directory| name.starts_with(directory)))
    }
}

/// Removes `.` and `..` by name alone.
pub(crate) fn tidy(path: &Path) -> PathBuf {
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

/// Takes the detours `/proc/self/root` and `/proc/self/cwd` out of a path.
fn without_proc(path: &Path, cwd: &Path) -> PathBuf {
    let mut parts = path.components();
    let head: Vec<Option<&str>> =
        parts.by_ref().take(4).map(|part| part.as_os_str().to_str()).collect();
    let is_process = |name: &str| {
        matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
    };
    match head.as_slice() {
        [Some("/"), Some("proc"), Some(process), Some("root")] if is_process(process) => {
            without_proc(&Path::new("/").join(parts.as_path()), cwd)
        }
        [Some("/"), Some("proc"), Some(process), Some("cwd")] if is_process(process) => {
            tidy(&cwd.join(parts.as_path()))
        }
        _ => path.to_path_buf(),
    }
}
