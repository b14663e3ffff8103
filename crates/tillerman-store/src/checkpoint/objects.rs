//! Contents by their hash: each is kept once, whole or not at all.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::checkpoint::tree::{Content, Digest, Why};

/// Contents up to this size are hashed before anything is written.
const BUFFER: usize = 256 << 10;
const UNFINISHED: &str = "unfinished-";

/// The kept contents of a session.
///
/// A content is written under another name and renamed, so that a crash leaves either all of it or
/// none. A loss of power can still cut one short; sizes are compared when the store is opened and
/// hashes when contents are used, which costs less than waiting for the disk at every prompt.
#[derive(Debug)]
pub(crate) struct Objects {
    directory: PathBuf,
    known: Mutex<HashMap<Digest, u64>>,
    used: AtomicU64,
    unfinished: AtomicU64,
}

/// How much may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of one file.
    pub(crate) file_bytes: u64,
    /// Bytes of all of them.
    pub(crate) total_bytes: u64,
}

/// What happens to contents that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They are kept.
    Keep,
    /// They are only hashed.
    Compare,
}

/// Why contents could not be taken in.
#[derive(Debug)]
pub(crate) enum TakeInError {
    /// They cannot be read.
    Reading,
    /// They cannot be written.
    Writing(io::Error),
}

impl Objects {
    /// Opens the store; contents that nobody refers to go away, and so does what is not whole.
    pub(crate) fn open(directory: PathBuf, referenced: &HashMap<Digest, u64>) -> io::Result<Self> {
        create_private(&directory)?;
        let objects = Self {
            directory,
            known: Mutex::default(),
            used: AtomicU64::new(0),
            unfinished: AtomicU64::new(0),
        };
        objects.tidy(referenced)?;
        Ok(objects)
    }

    /// Looks through everything that is there and removes what nobody can use.
    pub(crate) fn tidy(&self, referenced: &HashMap<Digest, u64>) -> io::Result<()> {
        let mut known = HashMap::new();
        for shelf in std::fs::read_dir(&self.directory)? {
            let shelf = shelf?;
            let first = shelf.file_name();
            let Some(first) = first.to_str().filter(|_| shelf.path().is_dir()) else {
                drop(std::fs::remove_file(shelf.path()));
                continue;
            };
            for object in std::fs::read_dir(shelf.path())? {
                let object = object?;
                let name = object.file_name();
                let digest = Digest::parse(&format!("{first}{}", name.to_string_lossy()));
                let size = object.metadata()?.len();
                match digest {
                    Some(digest) if referenced.get(&digest) == Some(&size) => {
                        known.insert(digest, size);
                    }
                    _ => drop(std::fs::remove_file(object.path())),
                }
            }
        }
        self.used.store(known.values().sum(), Ordering::Relaxed);
        *self.known() = known;
        Ok(())
    }

    pub(crate) fn has(&self, digest: &Digest) -> bool {
        self.known().contains_key(digest)
    }

    /// Opens kept contents; whoever reads them compares their hash.
    pub(crate) fn read(&self, digest: &Digest) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(no_follow()).open(self.path(digest))
    }

    /// Takes contents over from another store by giving them a second name; says whether they are
    /// kept now. Contents never change in place, so that stores can share them.
    pub(crate) fn adopt(&self, from: &Path, digest: &Digest, size: u64, room: Room) -> bool {
        if self.has(digest) {
            return true;
        }
        let (source, path) = (Self::place(from, digest), self.path(digest));
        let is_whole = source.symlink_metadata().is_ok_and(|it| it.is_file() && it.len() == size);
        if !is_whole || !self.fits(size, room) {
            return false;
        }
        let linked = std::fs::hard_link(&source, &path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            io::ErrorKind::NotFound => {
                create_private(path.parent().unwrap_or(&self.directory))?;
                std::fs::hard_link(&source, &path)
            }
            _ => Err(error),
        });
        if linked.is_ok() && self.known().insert(*digest, size).is_none() {
            self.used.fetch_add(size, Ordering::Relaxed);
        }
        linked.is_ok()
    }

    /// Reads contents to their end, hashes them and keeps them where wanted. Also says how many
    /// bytes there were.
    pub(crate) fn take_in(
        &self,
        source: &mut impl Read,
        purpose: Purpose,
        room: Room,
    ) -> Result<(Content, u64), TakeInError> {
        let mut buffer = Vec::with_capacity(BUFFER / 16);
        let limit = BUFFER as u64;
        source.by_ref().take(limit).read_to_end(&mut buffer).map_err(|_| TakeInError::Reading)?;
        if (buffer.len() as u64) < limit {
            return self.take_in_small(&buffer, purpose, room);
        }
        self.take_in_large(buffer, source, purpose, room)
    }

    fn take_in_small(
        &self,
        bytes: &[u8],
        purpose: Purpose,
        room: Room,
    ) -> Result<(Content, u64), TakeInError> {
        let digest = Digest(Sha256::digest(bytes).into());
        let size = bytes.len() as u64;
        if purpose == Purpose::Compare || self.has(&digest) {
            return Ok((Content::Kept(digest), size));
        }
        if !self.fits(size, room) {
            return Ok((Content::Unkept(Why::OverBudget), size));
        }
        let (path, mut file) = self.begin().map_err(TakeInError::Writing)?;
        let written = file.write_all(bytes).and_then(|()| self.finish(&path, digest, size));
        self.settle(&path, written)?;
        Ok((Content::Kept(digest), size))
    }

    fn take_in_large(
        &self,
        mut buffer: Vec<u8>,
        source: &mut impl Read,
        purpose: Purpose,
        room: Room,
    ) -> Result<(Content, u64), TakeInError> {
        let mut unfinished = match purpose {
            Purpose::Keep => Some(self.begin().map_err(TakeInError::Writing)?),
            Purpose::Compare => None,
        };
        let taken = self.copy(&mut buffer, source, unfinished.as_mut().map(|(_, file)| file), room);
        let Some((path, _)) = unfinished else { return taken };
        match taken {
            Ok((Content::Kept(digest), size)) if !self.has(&digest) => {
                let written = self.finish(&path, digest, size);
                self.settle(&path, written)?;
            }
            _ => drop(std::fs::remove_file(&path)),
        }
        taken
    }

    /// Hashes what comes, in pieces, and copies it. The first piece is in the buffer already.
    fn copy(
        &self,
        buffer: &mut Vec<u8>,
        source: &mut impl Read,
        mut target: Option<&mut File>,
        room: Room,
    ) -> Result<(Content, u64), TakeInError> {
        let (mut hash, mut size) = (Sha256::new(), 0);
        while !buffer.is_empty() {
            size += buffer.len() as u64;
            if size > room.file_bytes {
                return Ok((Content::Unkept(Why::TooLarge), size));
            }
            if let Some(target) = &mut target {
                if !self.fits(size, room) {
                    return Ok((Content::Unkept(Why::OverBudget), size));
                }
                target.write_all(buffer).map_err(TakeInError::Writing)?;
            }
            hash.update(&*buffer);
            buffer.clear();
            let piece = source.by_ref().take(BUFFER as u64).read_to_end(buffer);
            piece.map_err(|_| TakeInError::Reading)?;
        }
        Ok((Content::Kept(Digest(hash.finalize().into())), size))
    }

    fn fits(&self, size: u64, room: Room) -> bool {
        self.used.load(Ordering::Relaxed).saturating_add(size) <= room.total_bytes
    }

    fn begin(&self) -> io::Result<(PathBuf, File)> {
        let number = self.unfinished.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.join(format!("{UNFINISHED}{number}"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(no_follow());
        let file = options.open(&path)?;
        Ok((path, file))
    }

    fn finish(&self, unfinished: &Path, digest: Digest, size: u64) -> io::Result<()> {
        let path = self.path(&digest);
        if let Err(error) = std::fs::rename(unfinished, &path) {
            let shelf = path.parent().filter(|_| error.kind() == io::ErrorKind::NotFound);
            create_private(shelf.ok_or(error)?)?;
            std::fs::rename(unfinished, &path)?;
        }
        if self.known().insert(digest, size).is_none() {
            self.used.fetch_add(size, Ordering::Relaxed);
        }
        Ok(())
    }

    fn settle(&self, unfinished: &Path, written: io::Result<()>) -> Result<(), TakeInError> {
        written.map_err(|error| {
            drop(std::fs::remove_file(unfinished));
            TakeInError::Writing(error)
        })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        Self::place(&self.directory, digest)
    }

    fn place(directory: &Path, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        let (shelf, name) = hex.split_at(2);
        directory.join(shelf).join(name)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Digest, u64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a directory for this user alone; one that exists is fine.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn no_follow() -> i32 {
    OFlags::NOFOLLOW.bits().cast_signed()
}
