//! Opening files for the host's own file tools under the same confinement as commands.
//!
//! A confined command can leave a link where a file tool will write. So every path is opened from
//! the directory that grants it, with the kernel refusing to leave that directory on the way.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use crate::confinement::Confinement;
use crate::links;

/// How many files were put in the place of others, which tells their drafts apart.
static REPLACEMENTS: AtomicU64 = AtomicU64::new(0);

/// What file tools may open.
#[derive(Clone, Debug)]
pub struct FileAccess {
    writable: Vec<PathBuf>,
    guarded: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
}

/// Why a file tool may not open a path.
#[derive(Debug, thiserror::Error)]
pub enum OpenFileError {
    /// It lies outside the directories that may be written.
    #[error("{} lies outside the directories that may be written", .0.display())]
    Outside(PathBuf),
    /// It is guarded.
    #[error("{} is guarded and stays as it is", .0.display())]
    Guarded(PathBuf),
    /// It is hidden.
    #[error("{} is hidden", .0.display())]
    Hidden(PathBuf),
    /// A link on the way leads outside, or the system refuses.
    #[error("{} cannot be opened", path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl FileAccess {
    /// The access that a confinement grants to file tools.
    #[must_use]
    pub fn new(confinement: &Confinement) -> Self {
        let resolve = |path: &PathBuf| resolve_existing(path);
        Self {
            writable: confinement.writable.iter().map(resolve).collect(),
            guarded: confinement.guarded.iter().map(|guard| resolve(&guard.path)).collect(),
            hidden: confinement.hidden.iter().map(resolve).collect(),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When it is hidden, under whatever name, or cannot be opened.
    pub fn open(&self, path: &Path) -> Result<File, OpenFileError> {
        let resolved = resolve_existing(path);
        if self.hides(path) {
            return Err(OpenFileError::Hidden(path.to_path_buf()));
        }
        let failed = |source| OpenFileError::Open { path: path.to_path_buf(), source };
        match self.root_of(&resolved) {
            Some((root, rest)) => {
                let parent = open_directory(root).map_err(failed)?;
                beneath(&parent, rest, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())
                    .map(File::from)
                    .map_err(failed)
            }
            None => File::options()
                .read(true)
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open(&resolved)
                .map_err(failed),
        }
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// When it is hidden or cannot be read.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, OpenFileError> {
        let mut bytes = Vec::new();
        let failed = |source| OpenFileError::Open { path: path.to_path_buf(), source };
        self.open(path)?.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Replaces a file's content, making the file when it is missing. The old content is there
    /// until the new one is whole; where the path is a link inside, what it leads to is replaced.
    ///
    /// # Errors
    /// When the path is not writable, is guarded, or a link on the way leads outside.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<(), OpenFileError> {
        let failed = |source| OpenFileError::Open { path: path.to_path_buf(), source };
        let resolved = resolve_existing(path);
        let guarded = is_within(&resolved, &self.guarded)
            || self.guarded.iter().any(|guard| guard.starts_with(&resolved));
        if guarded || is_link_into(&resolved, &self.guarded) {
            return Err(OpenFileError::Guarded(path.to_path_buf()));
        }
        if is_within(&resolved, &self.hidden) {
            return Err(OpenFileError::Hidden(path.to_path_buf()));
        }
        let outside = || OpenFileError::Outside(path.to_path_buf());
        let (root, rest) = self.root_of(&resolved).ok_or_else(outside)?;
        let (Some(parent), Some(name)) = (rest.parent(), rest.file_name()) else {
            return Err(outside());
        };
        let root = open_directory(root).map_err(failed)?;
        let directory = make_directories(root, parent).map_err(failed)?;
        replace(&directory, name.as_ref(), content).map_err(failed)
    }

    /// Whether a path is hidden, under whatever name.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        let resolved = resolve_existing(path);
        is_within(&resolved, &self.hidden) || is_link_into(&resolved, &self.hidden)
    }

    fn root_of<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        let around = self.writable.iter().filter(|root| path.starts_with(root));
        let root = around.max_by_key(|root| root.components().count())?;
        Some((root, path.strip_prefix(root).ok()?))
    }
}

/// Whether a path is another name of a file in these trees. When there are too many to look at, it
/// may be.
fn is_link_into(path: &Path, trees: &[PathBuf]) -> bool {
    let metadata = std::fs::metadata(path).ok().filter(|it| it.is_file() && it.nlink() > 1);
    let identity = metadata.map(|metadata| (metadata.dev(), metadata.ino()));
    identity.is_some_and(|identity| links::holds(trees, identity).unwrap_or(true))
}

fn is_within(path: &Path, trees: &[PathBuf]) -> bool {
    trees.iter().any(|tree| path.starts_with(tree))
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// Opens a path that was free of links a moment ago, and must still be.
#[cfg(target_os = "linux")]
fn beneath(directory: &OwnedFd, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(directory, path, flags, mode, resolve)?)
}

/// Opens a path component by component, since only Linux does it in one call.
#[cfg(not(target_os = "linux"))]
fn beneath(directory: &OwnedFd, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let mut current = directory.try_clone()?;
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { return Err(io::ErrorKind::InvalidInput.into()) };
        let last = names.peek().is_none();
        let flags = if last { flags } else { OFlags::RDONLY | OFlags::DIRECTORY };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        current = rustix::fs::openat(&current, name, flags, mode)?;
    }
    Ok(current)
}

/// Goes down to a directory, making what is missing on the way.
fn make_directories(root: OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut current = root;
    for name in path.components() {
        let name: &Path = name.as_ref();
        current = match beneath(&current, name, flags, Mode::empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match rustix::fs::mkdirat(&current, name, Mode::from_raw_mode(0o777)) {
                    // Somebody else was faster, which is as good.
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                beneath(&current, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok(current)
}

/// Puts new content in a file's place, keeping its mode.
fn replace(directory: &OwnedFd, name: &Path, content: &[u8]) -> io::Result<()> {
    let old = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // A link that has appeared since the path was resolved is replaced, not followed.
    let old = old.filter(|old| FileType::from_raw_mode(old.st_mode).is_file());
    let mode = Mode::from_raw_mode(old.map_or(0o666, |old| old.st_mode & 0o777));
    let file_name = name.to_string_lossy();
    // Sessions of one process may write the same file at the same time.
    let number = REPLACEMENTS.fetch_add(1, Ordering::Relaxed);
    let temporary = format!(".{file_name}.{}-{number}.tmp", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, temporary.as_str(), flags, mode)?;
    let written = || -> io::Result<()> {
        if old.is_some() {
            rustix::fs::fchmod(&file, mode)?;
        }
        let mut file = File::from(file);
        file.write_all(content)?;
        file.sync_data()?;
        Ok(rustix::fs::renameat(directory, temporary.as_str(), directory, name)?)
    };
    written().or_else(|error| {
        rustix::fs::unlinkat(directory, temporary.as_str(), AtFlags::empty())?;
        Err(error)
    })
}

/// Resolves as much of a path as exists.
fn resolve_existing(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let (Some(parent), Some(Component::Normal(name))) =
        (path.parent(), path.components().next_back())
    else {
        return path.to_path_buf();
    };
    resolve_existing(parent).join(name)
}
