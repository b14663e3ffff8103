//! Carrying a plan out: files are replaced whole, links are never followed.

use std::collections::BTreeSet;
use std::fs::File as OpenFile;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use tillerman_ports::Rewound;

use crate::checkpoint::objects::Objects;
use crate::checkpoint::plan::{Place, Plan};
use crate::checkpoint::reach;
use crate::checkpoint::tree::{Content, DirPath, File, Reach, Tree};

/// Files beyond this are counted and not named.
const MOST_NAMED: usize = 5_000;
const PIECE: usize = 256 << 10;
const SECOND: i64 = 1_000_000_000;

/// What became of a file.
enum Outcome {
    Done,
    /// A link or special file is in its place.
    Link,
}

/// Says what a plan would do.
pub(crate) fn describe(plan: &Plan) -> Rewound {
    let mut report = begin(plan);
    let changed = plan.delete.iter().chain(plan.restore.iter().map(|(place, _)| place));
    let changed = changed.chain(plan.modes.iter().map(|(place, _)| place));
    report.files = changed.take(MOST_NAMED).map(Place::show).collect();
    report.restored = (plan.restore.len() + plan.modes.len()) as u64;
    report.deleted = plan.delete.len() as u64;
    report
}

/// Does what the plan says and goes on after failures, which the report lists.
pub(crate) fn carry_out(plan: &Plan, target: &Tree, objects: &Objects) -> Rewound {
    let mut work = Work {
        objects,
        report: begin(plan),
        open: None,
        loosened: BTreeSet::from_iter(plan.dir_modes.iter().cloned()),
        temporary: 0,
    };
    for place in &plan.delete {
        let done = work.delete(place);
        work.note(place, done, |report| report.deleted += 1);
    }
    for path in &plan.remove_dirs {
        work.remove_dir(path);
    }
    for path in &plan.make_dirs {
        work.make_dir(path);
    }
    for (place, file) in &plan.restore {
        let done = work.restore(place, file);
        work.note(place, done, |report| report.restored += 1);
    }
    for (place, mode) in &plan.modes {
        let done = work.set_mode(place, *mode);
        work.note(place, done, |report| report.restored += 1);
    }
    work.tighten(target);
    work.report
}

/// Gives directories their modes back that can no longer be looked into; says whether any can now.
pub(crate) fn reopen(target: &Tree, present: &Tree) -> bool {
    let mut any = false;
    for (path, dir) in &target.dirs {
        let now = present.dirs.get(path).map(|dir| dir.reach);
        if (dir.reach, now) == (Reach::Open, Some(Reach::Unreadable))
            && let Some((parent, name)) = reach::split(path)
            && let Ok(parent) = reach::open_directory(parent)
        {
            let mode = Mode::from_raw_mode(dir.mode);
            any |= reach::set_mode(&parent, name, FileType::Directory, mode) == Ok(true);
        }
    }
    any
}

fn begin(plan: &Plan) -> Rewound {
    Rewound {
        skipped_links: plan.skipped,
        not_kept: plan.not_kept,
        beyond_undo: plan.beyond_undo,
        ..Rewound::default()
    }
}

struct Work<'a> {
    objects: &'a Objects,
    report: Rewound,
    /// The directory that was used last; files of one directory follow each other.
    open: Option<(DirPath, Arc<OwnedFd>)>,
    /// Directories that get their modes back in the end.
    loosened: BTreeSet<DirPath>,
    temporary: u64,
}

impl Work<'_> {
    fn note(&mut self, place: &Place, done: io::Result<Outcome>, count: impl Fn(&mut Rewound)) {
        match done {
            Ok(Outcome::Done) => {
                count(&mut self.report);
                if self.report.files.len() < MOST_NAMED {
                    self.report.files.push(place.show());
                }
            }
            Ok(Outcome::Link) => self.report.skipped_links += 1,
            Err(error) => self.fail(&reach::join(&place.dir, &place.name), &error),
        }
    }

    fn fail(&mut self, path: &[u8], error: &io::Error) {
        self.report.failed.push(format!("{}: {error}", String::from_utf8_lossy(path)));
    }

    /// Opens a directory and makes sure that names in it can be changed.
    fn directory(&mut self, path: &DirPath) -> io::Result<Arc<OwnedFd>> {
        if let Some((open, fd)) = &self.open
            && open == path
        {
            return Ok(Arc::clone(fd));
        }
        let fd = Arc::new(reach::open_directory(path)?);
        let mode = rustix::fs::fstat(&*fd)?.st_mode & 0o7777;
        if mode & 0o300 != 0o300
            && rustix::fs::fchmod(&*fd, Mode::from_raw_mode(mode | 0o700)).is_ok()
        {
            self.loosened.insert(Arc::clone(path));
        }
        self.open = Some((Arc::clone(path), Arc::clone(&fd)));
        Ok(fd)
    }

    fn delete(&mut self, place: &Place) -> io::Result<Outcome> {
        let directory = self.directory(&place.dir)?;
        match reach::look(&*directory, &*place.name)?.map(|stat| reach::kind(&stat)) {
            Some(FileType::RegularFile) => {
                rustix::fs::unlinkat(&*directory, &*place.name, AtFlags::empty())?;
                Ok(Outcome::Done)
            }
            None => Ok(Outcome::Done),
            Some(_) => Ok(Outcome::Link),
        }
    }

    /// A directory that still holds something stays: links, for example, or a repository.
    fn remove_dir(&mut self, path: &DirPath) {
        let Some((parent, name)) = reach::split(path) else { return };
        self.open = None;
        let removed = self
            .directory(&parent.into())
            .map(|parent| rustix::fs::unlinkat(&*parent, name, AtFlags::REMOVEDIR));
        match removed {
            Ok(Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::BUSY)) => {}
            Ok(Err(error)) => self.fail(path, &error.into()),
            Err(error) => self.fail(path, &error),
        }
    }

    fn make_dir(&mut self, path: &DirPath) {
        let Some((parent, name)) = reach::split(path) else { return };
        let made = self.directory(&parent.into()).and_then(|parent| {
            match rustix::fs::mkdirat(&*parent, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        if let Err(error) = made {
            self.fail(path, &error);
        }
    }

    fn restore(&mut self, place: &Place, file: &File) -> io::Result<Outcome> {
        let Content::Kept(digest) = &file.content else {
            return Err(io::Error::other("its contents were not kept"));
        };
        let directory = match self.directory(&place.dir) {
            Ok(directory) => directory,
            Err(error) if is_link(&error) => return Ok(Outcome::Link),
            Err(error) => return Err(error),
        };
        let present = reach::look(&*directory, &*place.name)?;
        let names = match &present {
            Some(stat) if reach::kind(stat) == FileType::RegularFile => stat.st_nlink,
            Some(stat) if reach::kind(stat) == FileType::Directory => {
                return Err(io::Error::other("a directory that is not empty is in its place"));
            }
            Some(_) => return Ok(Outcome::Link),
            None => 1,
        };
        self.temporary += 1;
        let temporary = format!(".tillerman-rewind-{}-{}", std::process::id(), self.temporary);
        let gone = |_| io::Error::other("its kept contents are gone");
        let source = self.objects.read(digest).map_err(gone)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        let copy =
            rustix::fs::openat(&*directory, &temporary, flags | OFlags::CLOEXEC, mode)?.into();
        let written =
            write(&source, &copy, digest.0).and_then(|()| dress(&copy, file)).and_then(|()| {
                rustix::fs::renameat(&*directory, &temporary, &*directory, &*place.name)
                    .map_err(io::Error::from)
            });
        if let Err(error) = written {
            let _left = rustix::fs::unlinkat(&*directory, &temporary, AtFlags::empty());
            return Err(error);
        }
        self.report.split_links += u64::from(names > 1);
        Ok(Outcome::Done)
    }

    fn set_mode(&mut self, place: &Place, mode: u32) -> io::Result<Outcome> {
        let directory = self.directory(&place.dir)?;
        let mode = Mode::from_raw_mode(mode);
        match reach::open_file(&*directory, &place.name) {
            Ok(fd) if reach::kind(&rustix::fs::fstat(&fd)?) == FileType::RegularFile => {
                rustix::fs::fchmod(&fd, mode)?;
            }
            Ok(_) | Err(Errno::LOOP) => return Ok(Outcome::Link),
            // What cannot be opened can still be changed by its owner.
            Err(Errno::ACCESS) => {
                let kind = FileType::RegularFile;
                if !reach::set_mode(&*directory, &place.name, kind, mode)? {
                    return Ok(Outcome::Link);
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Outcome::Done)
    }

    /// Gives directories the modes they had, children first, since a mode can close the way.
    fn tighten(&mut self, target: &Tree) {
        self.open = None;
        for path in std::mem::take(&mut self.loosened).iter().rev() {
            let Some(dir) = target.dirs.get(path) else { continue };
            let mode = Mode::from_raw_mode(dir.mode);
            let done = reach::open_directory(path).and_then(|fd| rustix::fs::fchmod(fd, mode));
            if let Err(error) = done {
                self.fail(path, &error.into());
            }
        }
    }
}

/// Copies kept contents and refuses them when they are not what they should be.
fn write(source: &OpenFile, mut copy: &OpenFile, expected: [u8; 32]) -> io::Result<()> {
    let (mut hash, mut piece) = (Sha256::new(), Vec::new());
    loop {
        piece.clear();
        source.take(PIECE as u64).read_to_end(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        hash.update(&piece);
        copy.write_all(&piece)?;
    }
    let found: [u8; 32] = hash.finalize().into();
    if found == expected { Ok(()) } else { Err(io::Error::other("its kept contents are damaged")) }
}

/// Gives a file the owner, mode and time it had.
fn dress(copy: &OpenFile, file: &File) -> io::Result<()> {
    let (uid, gid) = file.stamp.owner;
    let stat = rustix::fs::fstat(copy)?;
    if (stat.st_uid, stat.st_gid) != (uid, gid) {
        // Only few may give files away; a file of one's own with the right contents is fine too.
        let _given = rustix::fs::fchown(copy, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    }
    rustix::fs::fchmod(copy, Mode::from_raw_mode(file.stamp.mode))?;
    let seconds = file.stamp.mtime.div_euclid(SECOND);
    let time = Timespec { tv_sec: seconds, tv_nsec: file.stamp.mtime.rem_euclid(SECOND) };
    let times = Timestamps { last_access: time, last_modification: time };
    Ok(rustix::fs::futimens(copy.as_fd(), &times)?)
}

/// Whether a path leads over something that is not a directory.
fn is_link(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::LOOP | Errno::NOTDIR))
}
