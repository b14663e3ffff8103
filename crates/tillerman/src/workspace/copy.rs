//! Copies what a mount asks for and nothing else.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use crate::error::{Error, ErrorKind, Result};
use crate::workspace::mount::{HostMount, Links};

/// What was copied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// Copies a mount to a place that does not exist yet.
pub(crate) fn copy(mount: &HostMount, roots: &[PathBuf], to: &Path) -> Result<Copied> {
    let from = mount.host.canonicalize().map_err(|error| unreadable(&mount.host, error))?;
    if !is_allowed(&from, roots) {
        return Err(outside(&mount.host));
    }
    let patterns = Patterns::new(mount)?;
    let mut copied = Copied::default();
    let walk = WalkDir::new(&from).follow_links(mount.links == Links::Follow).sort_by_file_name();
    let mut walk = walk.into_iter();
    while let Some(entry) = walk.next() {
        let entry = entry.map_err(|error| unreadable(&from, error))?;
        let below = entry.path().strip_prefix(&from).unwrap_or_else(|_| Path::new(""));
        let is_root = below.as_os_str().is_empty();
        let name = if is_root { Path::new(entry.file_name()) } else { below };
        if patterns.excludes(name) && !(is_root && entry.file_type().is_dir()) {
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
            continue;
        }
        if !entry.file_type().is_file() || !patterns.includes(name) {
            continue;
        }
        if mount.links == Links::Follow && !leads_inside(entry.path(), roots) {
            return Err(outside(entry.path()));
        }
        let target = if is_root { to.to_owned() } else { to.join(below) };
        copy_file(entry.path(), &target, mount, &mut copied)?;
    }
    if from.is_dir() {
        std::fs::create_dir_all(to).map_err(|error| unreadable(to, error))?;
    }
    Ok(copied)
}

fn copy_file(from: &Path, to: &Path, mount: &HostMount, copied: &mut Copied) -> Result<()> {
    let left = mount.max_bytes.map_or(u64::MAX, |limit| limit.saturating_sub(copied.bytes));
    let copying = || -> io::Result<u64> {
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true);
        if mount.links == Links::Skip {
            // A file that became a link since it was looked at is not followed either.
            let flags = rustix::fs::OFlags::NOFOLLOW.bits();
            options.custom_flags(i32::try_from(flags).unwrap_or_default());
        }
        let source = options.open(from)?;
        let permissions = source.metadata()?.permissions();
        let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
        let bytes = io::copy(&mut source.take(left.saturating_add(1)), &mut target)?;
        target.set_permissions(permissions)?;
        Ok(bytes)
    };
    let bytes = copying().map_err(|error| unreadable(from, error))?;
    if bytes > left {
        let limit = mount.max_bytes.unwrap_or_default();
        let text = format!(
            "{} is larger than the {limit} bytes it may have; no workspace was made; raise \
             `max_bytes`, or exclude something",
            mount.host.display()
        );
        return Err(Error::new(ErrorKind::Workspace, text));
    }
    copied.files += 1;
    copied.bytes += bytes;
    Ok(())
}

fn leads_inside(path: &Path, roots: &[PathBuf]) -> bool {
    path.canonicalize().is_ok_and(|path| is_allowed(&path, roots))
}

fn is_allowed(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

fn outside(path: &Path) -> Error {
    let text = format!(
        "{} lies outside the allowed roots; no workspace was made; allow it with `allow_root` if \
         agents may see it",
        path.display()
    );
    Error::new(ErrorKind::Workspace, text)
}

fn unreadable(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let text = format!("{} cannot be copied; no workspace was made", path.display());
    Error::new(ErrorKind::Workspace, text).because(error)
}

/// The patterns of a mount.
struct Patterns {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Patterns {
    fn new(mount: &HostMount) -> Result<Self> {
        let include = if mount.include.is_empty() { None } else { Some(set(&mount.include)?) };
        Ok(Self { include, exclude: set(&mount.exclude)? })
    }

    fn includes(&self, path: &Path) -> bool {
        self.include.as_ref().is_none_or(|set| fits(set, path))
    }

    fn excludes(&self, path: &Path) -> bool {
        fits(&self.exclude, path)
    }
}

fn set(patterns: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    let wrong = |error: globset::Error| {
        let text = "a pattern of a mount cannot be understood; no workspace was made";
        Error::new(ErrorKind::Workspace, text).because(error)
    };
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(wrong)?);
    }
    set.build().map_err(wrong)
}

/// Whether a pattern fits the path or an end of it.
fn fits(set: &GlobSet, path: &Path) -> bool {
    let mut rest = path.components();
    loop {
        if rest.as_path().as_os_str().is_empty() {
            return false;
        }
        if set.is_match(rest.as_path()) {
            return true;
        }
        rest.next();
    }
}
