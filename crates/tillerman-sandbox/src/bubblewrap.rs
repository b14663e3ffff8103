//! The arguments with which bubblewrap builds a layout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::layout::{Access, Layout, Mount};
use crate::plan::Staged;

/// How much a directory in memory may hold.
const EMPTY_BYTES: &str = "536870912";

/// What the installed bubblewrap understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    /// The major version.
    pub(crate) major: u32,
    /// The minor version.
    pub(crate) minor: u32,
}

impl Version {
    /// The first version that is good enough at all.
    pub(crate) const OLDEST: Self = Self { major: 0, minor: 4 };
    /// The first version with size limits and with a way to forbid further user namespaces.
    const WITH_SIZES: Self = Self { major: 0, minor: 8 };

    /// Reads what `bwrap --version` says.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = text.trim().rsplit(' ').next()?;
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        Some(Self { major: parts.next()??, minor: parts.next()?? })
    }
}

/// Bubblewrap and its arguments up to the program.
pub(crate) fn command_line(
    bubblewrap: &Path,
    version: Version,
    layout: &Layout,
    staged: &[Staged],
) -> Vec<OsString> {
    let mut line = Line(vec![bubblewrap.into()]);
    for namespace in ["user", "ipc", "pid", "net", "uts"] {
        line.flag(&format!("--unshare-{namespace}"));
    }
    line.flag("--unshare-cgroup-try");
    if version >= Version::WITH_SIZES {
        line.flag("--disable-userns");
    }
    // The second stage is the first process of the namespace, so that its end is the end of all.
    for flag in ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"] {
        line.flag(flag);
    }
    line.option("--cap-drop", ["ALL"]);
    line.option("--ro-bind", ["/", "/"]);
    line.option("--dev", ["/dev"]);
    line.option("--proc", ["/proc"]);
    for (at, mount) in &layout.mounts {
        match mount {
            Mount::Bind { source, access } => {
                let flag = match access {
                    Access::Writable => "--bind",
                    Access::ReadOnly => "--ro-bind",
                };
                line.option(flag, [&on_stage(source, staged), at]);
            }
            Mount::Empty(_) => {
                if version >= Version::WITH_SIZES {
                    line.option("--size", [EMPTY_BYTES]);
                }
                line.option("--tmpfs", [at]);
            }
            // A device on a mount without devices can be neither read nor written.
            Mount::Blocked => line.option("--ro-bind", [Path::new("/dev/null"), at]),
        }
    }
    // Only now, since mount points inside had to be made first.
    for (at, mount) in &layout.mounts {
        if *mount == Mount::Empty(Access::ReadOnly) {
            line.option("--remount-ro", [at]);
        }
    }
    line.flag("--");
    line.0
}

/// Chooses the trees that the host's root has to open to the command's user.
pub(crate) fn stage(layout: &Layout, directory: &Path) -> Vec<(PathBuf, PathBuf, Access)> {
    let mut chosen: Vec<(PathBuf, PathBuf, Access)> = Vec::new();
    let mut sources: Vec<(&Path, Access)> = layout
        .mounts
        .values()
        .filter_map(|mount| match mount {
            Mount::Bind { source, access } => Some((source.as_path(), *access)),
            Mount::Empty(_) | Mount::Blocked => None,
        })
        .collect();
    // Writable trees first, so that what is read-only inside them needs no stage of its own.
    sources.sort_by_key(|(source, access)| {
        (*access == Access::ReadOnly, source.components().count(), source.to_path_buf())
    });
    for (source, access) in sources {
        if !chosen.iter().any(|(tree, _, _)| source.starts_with(tree)) {
            let at = directory.join(chosen.len().to_string());
            chosen.push((source.to_path_buf(), at, access));
        }
    }
    chosen
}

/// Where a source is found once the trees are on stage: inside the innermost that holds it.
fn on_stage(source: &Path, staged: &[Staged]) -> PathBuf {
    let around = staged.iter().filter(|tree| source.starts_with(&tree.source));
    let tree = around.max_by_key(|tree| tree.source.components().count());
    let Some(tree) = tree else { return source.to_path_buf() };
    match source.strip_prefix(&tree.source) {
        Ok(rest) if rest.as_os_str().is_empty() => tree.at.clone(),
        Ok(rest) => tree.at.join(rest),
        Err(_) => source.to_path_buf(),
    }
}

struct Line(Vec<OsString>);

impl Line {
    fn flag(&mut self, flag: &str) {
        self.0.push(flag.into());
    }

    fn option<T: Into<OsString>>(&mut self, flag: &str, values: impl IntoIterator<Item = T>) {
        self.flag(flag);
        self.0.extend(values.into_iter().map(Into::into));
    }
}

#[cfg(test)]
mod tests;
