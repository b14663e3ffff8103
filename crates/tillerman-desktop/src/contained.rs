//! Reaching files below one directory and nowhere else.
//!
//! A path is walked name by name from an open directory, and every name is opened without
//! following links. Links are followed by hand, and only as long as they lead to places below the
//! directory. So neither `..`, nor a link, nor a directory whose name merely begins alike, nor
//! anything that changes while the walk is under way leads out.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, accessat, mkdirat, openat, readlinkat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// Why a path was not reached. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReachError {
    #[error(
        "{asked} lies outside {}, and only what is below that directory can be reached. Nothing \
         was done.", root.display()
    )]
    Outside { asked: String, root: PathBuf },
    #[error("{0} does not exist.")]
    Missing(String),
    #[error("{0} is not a regular file, so it was not opened.")]
    NotAFile(String),
    #[error("{0} is not a directory.")]
    NotADirectory(String),
    #[error("{asked} has more than {most} bytes, which is the limit. Nothing was done.")]
    TooLarge { asked: String, most: usize },
    #[error("{asked}: too many symbolic links.")]
    TooManyLinks { asked: String },
    #[error("{asked}: {source}. Nothing was changed.")]
    System { asked: String, source: io::Error },
}

/// The directory that everything lies below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root<'a> {
    path: &'a Path,
}

/// A place below the root. Nothing on the way to it was a link that led elsewhere.
#[derive(Debug)]
pub(crate) struct Reached {
    /// Where it is, from the root, without links.
    pub(crate) shown: PathBuf,
    /// What is there.
    pub(crate) found: Found,
    asked: String,
}

/// What is at a place.
#[derive(Debug)]
pub(crate) enum Found {
    /// A directory.
    Directory(OwnedFd),
    /// Something else, by its name in a directory.
    Entry { directory: OwnedFd, name: OsString, kind: FileType },
    /// Nothing; these names are missing below a directory.
    Missing { directory: OwnedFd, names: Vec<OsString> },
}

impl<'a> Root<'a> {
    /// The root at a path that has no links left to follow.
    pub(crate) const fn new(path: &'a Path) -> Self {
        Self { path }
    }

    /// Walks to a path: relative to the root, or absolute and below it.
    pub(crate) fn reach(&self, asked: &str) -> Result<Reached, ReachError> {
        let mut walk = Walk::start(*self, asked)?;
        while let Some(step) = walk.ahead.pop_front() {
            if let Some(reached) = walk.take(step)? {
                return Ok(reached);
            }
        }
        let (directory, shown) = walk.arrived()?;
        Ok(Reached { shown, found: Found::Directory(directory), asked: asked.to_owned() })
    }
}

/// One step of a walk.
#[derive(Debug)]
enum Step {
    Up,
    Into(OsString),
}

struct Walk<'a> {
    root: Root<'a>,
    asked: &'a str,
    base: OwnedFd,
    /// Directories below the root, each with its name.
    behind: Vec<(OwnedFd, OsString)>,
    ahead: VecDeque<Step>,
    links: usize,
}

impl<'a> Walk<'a> {
    fn start(root: Root<'a>, asked: &'a str) -> Result<Self, ReachError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let base = rustix::fs::open(root.path, flags, Mode::empty());
        let base = base.map_err(|errno| system(asked, errno))?;
        let mut walk =
            Self { root, asked, base, behind: Vec::new(), ahead: VecDeque::new(), links: 0 };
        walk.plan(Path::new(asked))?;
        Ok(walk)
    }

    /// Puts the steps of a path before those that are planned already.
    fn plan(&mut self, path: &Path) -> Result<(), ReachError> {
        let path = if path.is_absolute() {
            self.behind.clear();
            path.strip_prefix(self.root.path).map_err(|_| self.outside())?
        } else {
            path
        };
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.ahead.push_front(Step::Into(name.to_owned())),
                Component::ParentDir => self.ahead.push_front(Step::Up),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(self.outside()),
            }
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<Option<Reached>, ReachError> {
        let name = match step {
            Step::Up => {
                return self.behind.pop().map(|_| None).ok_or_else(|| self.outside());
            }
            Step::Into(name) => name,
        };
        let here = self.behind.last().map_or(&self.base, |(directory, _)| directory);
        let kind = match statat(here, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(Errno::NOENT) => return self.missing(name).map(Some),
            Err(errno) => return Err(system(self.asked, errno)),
        };
        match kind {
            FileType::Symlink => {
                self.links += 1;
                if self.links > MOST_LINKS {
                    return Err(ReachError::TooManyLinks { asked: self.asked.to_owned() });
                }
                let target = readlinkat(here, &name, Vec::new());
                let target = target.map_err(|errno| system(self.asked, errno))?;
                self.plan(Path::new(os_str(target.as_bytes())))?;
                Ok(None)
            }
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let next = openat(here, &name, flags, Mode::empty());
                let next = next.map_err(|errno| system(self.asked, errno))?;
                self.behind.push((next, name));
                Ok(None)
            }
            _ if self.ahead.is_empty() => {
                let (directory, above) = self.arrived()?;
                let shown = above.join(&name);
                let found = Found::Entry { directory, name, kind };
                Ok(Some(Reached { shown, found, asked: self.asked.to_owned() }))
            }
            _ => Err(ReachError::NotADirectory(self.asked.to_owned())),
        }
    }

    fn missing(&mut self, first: OsString) -> Result<Reached, ReachError> {
        let mut names = vec![first];
        for step in std::mem::take(&mut self.ahead) {
            match step {
                Step::Into(name) => names.push(name),
                Step::Up => return Err(ReachError::Missing(self.asked.to_owned())),
            }
        }
        let (directory, above) = self.arrived()?;
        let shown = names.iter().fold(above, |path, name| path.join(name));
        let found = Found::Missing { directory, names };
        Ok(Reached { shown, found, asked: self.asked.to_owned() })
    }

    /// The directory the walk has come to.
    fn arrived(&mut self) -> Result<(OwnedFd, PathBuf), ReachError> {
        let shown = self.behind.iter().map(|(_, name)| name).collect();
        let here = self.behind.pop().map(|(directory, _)| Ok(directory));
        let here = here.unwrap_or_else(|| self.base.try_clone());
        let here =
            here.map_err(|source| ReachError::System { asked: self.asked.to_owned(), source })?;
        Ok((here, shown))
    }

    fn outside(&self) -> ReachError {
        ReachError::Outside { asked: self.asked.to_owned(), root: self.root.path.to_path_buf() }
    }
}

impl Reached {
    /// Opens a regular file for reading.
    pub(crate) fn open(&self) -> Result<File, ReachError> {
        let (directory, name) = match &self.found {
            Found::Entry { directory, name, kind: FileType::RegularFile } => (directory, name),
            Found::Entry { .. } | Found::Directory(_) => {
                return Err(ReachError::NotAFile(self.asked.clone()));
            }
            Found::Missing { .. } => return Err(ReachError::Missing(self.asked.clone())),
        };
        // Should a pipe take the file's place in between, opening it must still not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(directory, name, flags, Mode::empty());
        let file = File::from(file.map_err(|errno| system(&self.asked, errno))?);
        let is_file = file.metadata().map_err(|source| self.system(source))?.is_file();
        if is_file { Ok(file) } else { Err(ReachError::NotAFile(self.asked.clone())) }
    }

    /// Reads a regular file that has at most so many bytes.
    pub(crate) fn read(&self, most: usize) -> Result<Vec<u8>, ReachError> {
        let mut bytes = Vec::new();
        let most_read = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let read = self.open()?.take(most_read).read_to_end(&mut bytes);
        read.map_err(|source| self.system(source))?;
        if bytes.len() > most {
            return Err(ReachError::TooLarge { asked: self.asked.clone(), most });
        }
        Ok(bytes)
    }

    /// Writes a file whole, making its directories where they are missing. Readers see the old
    /// or the new content, never a part.
    pub(crate) fn write(self, content: &[u8]) -> Result<(), ReachError> {
        let asked = self.asked;
        let failed = |errno| system(&asked, errno);
        let (directory, name, mode) = match self.found {
            Found::Entry { directory, name, kind: FileType::RegularFile } => {
                // Taking a file's name needs no right to the file itself.
                accessat(&directory, &name, Access::WRITE_OK, AtFlags::empty()).map_err(failed)?;
                let stat = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
                (directory, name, Some(Mode::from_raw_mode(stat.st_mode)))
            }
            Found::Entry { .. } | Found::Directory(_) => return Err(ReachError::NotAFile(asked)),
            Found::Missing { mut directory, names } => {
                let Some((name, above)) = names.split_last() else {
                    return Err(ReachError::Missing(asked));
                };
                for folder in above {
                    directory = enter_new(&directory, folder).map_err(failed)?;
                }
                (directory, name.clone(), None)
            }
        };
        swap_in(&directory, &name, mode, content)
            .map_err(|source| ReachError::System { asked, source })
    }

    fn system(&self, source: io::Error) -> ReachError {
        ReachError::System { asked: self.asked.clone(), source }
    }
}

fn enter_new(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

fn swap_in(
    directory: &OwnedFd,
    name: &OsStr,
    mode: Option<Mode>,
    content: &[u8],
) -> io::Result<()> {
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = format!(".tillerman-desktop-{}-{number}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let first_mode = if mode.is_some() { 0o600 } else { 0o666 };
    let file = openat(directory, &draft, flags, Mode::from_raw_mode(first_mode))?;
    let written = (|| {
        let mut file = File::from(file);
        file.write_all(content)?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        Ok(renameat(directory, &draft, directory, name)?)
    })();
    if written.is_err() {
        // What is left of it is of no use; that it could not be removed changes nothing.
        unlinkat(directory, &draft, AtFlags::empty()).ok();
    }
    written
}

fn system(asked: &str, errno: Errno) -> ReachError {
    match errno {
        Errno::NOENT => ReachError::Missing(asked.to_owned()),
        Errno::NOTDIR => ReachError::NotADirectory(asked.to_owned()),
        _ => ReachError::System { asked: asked.to_owned(), source: errno.into() },
    }
}

fn os_str(bytes: &[u8]) -> &OsStr {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes)
}
