//! Looking into one directory, reading only files whose stamps are new.

use std::ffi::{CStr, CString};
use std::fs::File as OpenFile;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fd::AsFd;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use tillerman_ports::CheckpointError;

use crate::checkpoint::objects::{Objects, Purpose, Room, TakeInError};
use crate::checkpoint::reach;
use crate::checkpoint::tree::{Content, Dir, File, Other, Reach, Stamp, Why};

/// The user's git is not ours to look at, and even less to change.
const GIT: &[u8] = b".git";
/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// What every directory of a walk is looked into with.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) objects: &'a Objects,
    pub(crate) purpose: Purpose,
    pub(crate) room: Room,
    /// The file systems' time just before the walk.
    pub(crate) clock: i64,
    pub(crate) most_files: u64,
    pub(crate) files: AtomicU64,
    /// Set when nobody waits for the walk any more.
    pub(crate) abandoned: &'a AtomicBool,
}

/// What a directory holds.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// What it holds; nothing when that is just what it held before.
    pub(crate) dir: Option<Dir>,
    /// The names of the directories in it.
    pub(crate) children: Vec<CString>,
}

impl Scan<'_> {
    /// Looks into an open directory.
    pub(crate) fn directory(
        &self,
        fd: impl AsFd,
        stat: &Stat,
        before: Option<&Dir>,
    ) -> Result<Scanned, CheckpointError> {
        let mode = stat.st_mode & 0o7777;
        let (names, reach) = match list(&fd) {
            Ok(names) => (names, Reach::Open),
            Err(_) => (Vec::new(), Reach::Unreadable),
        };
        let mut files = Merge::new(before.map_or(&[], |dir| &dir.files));
        let (mut others, mut children) = (Vec::new(), Vec::new());
        for (name, kind) in names {
            if kind == FileType::Directory {
                children.push(name);
                continue;
            }
            // Whatever vanishes during the walk was never there.
            let Ok(Some(stat)) = reach::look(&fd, name.as_c_str()) else { continue };
            match reach::kind(&stat) {
                FileType::RegularFile => {
                    self.count()?;
                    self.file(&fd, &name, &stat, &mut files)?;
                }
                FileType::Directory => children.push(name),
                kind => others.push(other(&name, kind, &stat)),
            }
        }
        let before = before.filter(|dir| dir.reach == reach);
        let same_frame = |dir: &Dir| dir.mode == mode && dir.others == others;
        let dir = match (before.filter(|dir| same_frame(dir)), files.finish()) {
            (Some(_), None) => None,
            (_, files) => {
                let kept = || before.map(|dir| dir.files.clone()).unwrap_or_default();
                Some(Dir { mode, reach, files: files.unwrap_or_else(kept), others })
            }
        };
        Ok(Scanned { dir, children })
    }

    fn file(
        &self,
        directory: impl AsFd,
        name: &CStr,
        stat: &Stat,
        files: &mut Merge<'_>,
    ) -> Result<(), CheckpointError> {
        let stamp = Stamp::of(stat);
        match files.find(name.to_bytes()) {
            Some(at) if files.before[at].stamp == stamp => files.same(at),
            _ => files.fresh.extend_from(self.read(directory, name, stamp)?),
        }
        Ok(())
    }

    /// Reads a file until it holds still; nothing when it vanishes meanwhile.
    fn read(
        &self,
        directory: impl AsFd,
        name: &CStr,
        mut stamp: Stamp,
    ) -> Result<Option<File>, CheckpointError> {
        let record = |stamp: Stamp, content| {
            let name = name.to_bytes().into();
            Some(File { name, stamp: stamp.unless_racy(self.clock), content })
        };
        for attempt in 1.. {
            if self.abandoned.load(Ordering::Relaxed) {
                return Err(CheckpointError::Abandoned);
            }
            if stamp.size > self.room.file_bytes {
                return Ok(record(stamp, Content::Unkept(Why::TooLarge)));
            }
            let fd = match reach::open_file(&directory, name.to_bytes()) {
                Ok(fd) => fd,
                Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
                Err(error) if reach::is_shortage(error) => {
                    let what = "the files cannot be looked through".to_owned();
                    return Err(CheckpointError::Io { what, source: error.into() });
                }
                Err(_) => return Ok(record(stamp, Content::Unkept(Why::Unreadable))),
            };
            let mut file = OpenFile::from(fd);
            let Some(before) = regular(&file) else { return Ok(None) };
            let (content, size) = match self.objects.take_in(&mut file, self.purpose, self.room) {
                Ok(taken) => taken,
                Err(TakeInError::Reading) => (Content::Unkept(Why::Unreadable), before.size),
                Err(TakeInError::Writing(source)) => {
                    let what = "contents cannot be kept".to_owned();
                    return Err(CheckpointError::Io { what, source });
                }
            };
            if regular(&file) == Some(before) && (size == before.size || !is_kept(content)) {
                return Ok(record(before, content));
            }
            stamp = before;
            if attempt == ATTEMPTS {
                // What was read is kept, and read again at the next checkpoint.
                let stamp = Stamp { size, ctime: Stamp::UNTRUSTED, ..stamp };
                return Ok(record(stamp, content));
            }
        }
        Ok(None)
    }

    fn count(&self) -> Result<(), CheckpointError> {
        if self.files.fetch_add(1, Ordering::Relaxed) < self.most_files {
            return Ok(());
        }
        Err(CheckpointError::TooMuch(format!(
            "the working directories hold more than {} files; start in a smaller directory to have \
             checkpoints",
            self.most_files
        )))
    }
}

/// The names in a directory, sorted, without what is never looked at.
fn list(directory: impl AsFd) -> rustix::io::Result<Vec<(CString, FileType)>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b".." | GIT) {
            names.push((name.to_owned(), entry.file_type()));
        }
    }
    names.sort_unstable_by(|one, another| one.0.as_bytes().cmp(another.0.as_bytes()));
    Ok(names)
}

fn other(name: &CStr, kind: FileType, stat: &Stat) -> Other {
    let is_link = kind == FileType::Symlink;
    // The times of a pipe change with its use.
    let ctime = if is_link { Stamp::of(stat).ctime } else { 0 };
    Other { name: name.to_bytes().into(), is_link, inode: stat.st_ino, ctime }
}

fn regular(file: &OpenFile) -> Option<Stamp> {
    let stat = rustix::fs::fstat(file).ok()?;
    (reach::kind(&stat) == FileType::RegularFile).then(|| Stamp::of(&stat))
}

const fn is_kept(content: Content) -> bool {
    matches!(content, Content::Kept(_))
}

/// Old and new files of a directory, copied only from the first difference on.
struct Merge<'a> {
    before: &'a [File],
    /// Where to look for the next name.
    next: usize,
    fresh: Fresh<'a>,
}

struct Fresh<'a> {
    before: &'a [File],
    /// How many of the old files are there unchanged, from the first.
    prefix: usize,
    files: Option<Vec<File>>,
}

impl<'a> Merge<'a> {
    const fn new(before: &'a [File]) -> Self {
        Self { before, next: 0, fresh: Fresh { before, prefix: 0, files: None } }
    }

    /// Where a name stood before. Names must come in order.
    fn find(&mut self, name: &[u8]) -> Option<usize> {
        while self.before.get(self.next).is_some_and(|file| *file.name < *name) {
            self.next += 1;
        }
        self.before.get(self.next).filter(|file| *file.name == *name).map(|_| self.next)
    }

    fn same(&mut self, at: usize) {
        if self.fresh.files.is_none() && at == self.fresh.prefix {
            self.fresh.prefix += 1;
        } else {
            self.fresh.extend_from(self.before.get(at).cloned());
        }
    }

    /// The files; nothing when they are just the old ones.
    fn finish(self) -> Option<Vec<File>> {
        let Fresh { before, prefix, files } = self.fresh;
        match files {
            None if prefix == before.len() => None,
            None => before.get(..prefix).map(<[File]>::to_vec),
            files => files,
        }
    }
}

impl Fresh<'_> {
    fn extend_from(&mut self, file: Option<File>) {
        let copy = || self.before.get(..self.prefix).map(<[File]>::to_vec).unwrap_or_default();
        self.files.get_or_insert_with(copy).extend(file);
    }
}
