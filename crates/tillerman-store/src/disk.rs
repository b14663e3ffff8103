//! The few file operations a transcript needs, so that tests can make each of them fail.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

/// A file that only grows, except when a failed append is taken back.
pub(crate) trait Disk: Send + Sync + std::fmt::Debug {
    /// Its present size in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Writes once, at the end, and says how many bytes went in.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the end off.
    fn truncate(&self, size: u64) -> io::Result<()>;
    /// Waits until everything has reached the disk.
    fn sync(&self) -> io::Result<()>;
}

impl Disk for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self;
        file.write(bytes)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A file whose name has not reached the disk yet. The first synchronisation sees to it: until
/// then nobody was told that anything is safe, and a directory takes long to synchronise.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    directory: PathBuf,
    is_named: AtomicBool,
}

impl NewFile {
    /// Makes a new file and the directories above it, locked.
    ///
    /// # Errors
    /// As for [`create`].
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?.to_path_buf();
        Ok(Self { file: create(path)?, directory, is_named: AtomicBool::new(false) })
    }
}

impl Disk for NewFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.file.truncate(size)
    }

    fn sync(&self) -> io::Result<()> {
        if !self.is_named.load(Ordering::Relaxed) {
            sync_directory(&self.directory)?;
            self.is_named.store(true, Ordering::Relaxed);
        }
        self.file.sync()
    }
}

/// What an existing file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To look at it.
    Read,
    /// To look at it and append to it.
    Append,
}

/// Whether a lock was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// It is ours until the file is closed.
    Taken,
    /// Somebody else holds it.
    Busy,
}

/// Makes a new file and the directories above it, locked.
///
/// # Errors
/// Also when the file exists; in every case no new file is left behind.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    create_directories(directory)?;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags())
        .open(path)?;
    let locked = lock(&file).and_then(|lock| match lock {
        Lock::Taken => Ok(()),
        Lock::Busy => Err(Errno::AGAIN.into()),
    });
    if let Err(error) = locked {
        // The name was free a moment ago, so this file is ours to remove.
        drop(std::fs::remove_file(path));
        return Err(error);
    }
    Ok(file)
}

/// Opens an existing regular file, never through a symbolic link.
pub(crate) fn open(path: &Path, purpose: Purpose) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(purpose == Purpose::Append)
        .custom_flags(flags())
        .open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::LOOP.into()) }
}

/// Takes the exclusive lock of a file without waiting for it.
pub(crate) fn lock(file: &File) -> io::Result<Lock> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        // A file system without locks is no reason to refuse work.
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS) => Ok(Lock::Taken),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Busy),
        Err(error) => Err(error.into()),
    }
}

/// Whether a failed operation may succeed later without anybody changing the program's mind.
pub(crate) fn may_pass(error: &io::Error) -> bool {
    let passing =
        [Errno::NOSPC, Errno::DQUOT, Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::INTR];
    match error.raw_os_error() {
        Some(code) => passing.contains(&Errno::from_raw_os_error(code)),
        None => error.kind() == io::ErrorKind::StorageFull,
    }
}

/// A link is refused, and a pipe in the file's place must not block the opener.
pub(crate) fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

pub(crate) fn create_directories(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let parent = directory.parent().ok_or(io::ErrorKind::NotFound)?;
    create_directories(parent)?;
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => sync_directory(parent),
        // Another session of the project came first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
