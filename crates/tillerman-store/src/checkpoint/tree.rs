//! What directories held at one moment: names, stamps and hashes, never contents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rustix::fs::Stat;

/// The absolute path of a directory.
pub(crate) type DirPath = Arc<[u8]>;

/// Everything the working directories held. Directories that did not change are shared between
/// trees, so that comparing two of them costs little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The working directories.
    pub(crate) roots: Vec<DirPath>,
    /// Every directory; parents sort before their children.
    pub(crate) dirs: BTreeMap<DirPath, Arc<Dir>>,
}

/// What one directory held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dir {
    pub(crate) mode: u32,
    pub(crate) reach: Reach,
    /// Regular files by name.
    pub(crate) files: Vec<File>,
    /// Links and special files by name.
    pub(crate) others: Vec<Other>,
}

/// Whether a directory was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reach {
    /// It was.
    Open,
    /// The system refused.
    Unreadable,
    /// Another file system is mounted there.
    Foreign,
    /// It holds sessions and checkpoints, which no rewind may touch.
    Excluded,
}

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) name: Box<[u8]>,
    pub(crate) stamp: Stamp,
    pub(crate) content: Content,
}

/// What a file held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Something that was kept.
    Kept(Digest),
    /// Something that was not kept.
    Unkept(Why),
}

/// Why contents were not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    /// The file alone is too large.
    TooLarge,
    /// All kept contents together would be too large.
    OverBudget,
    /// The system refused to read it.
    Unreadable,
}

/// What tells whether a file changed without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    /// Nanoseconds since the Unix epoch.
    pub(crate) mtime: i64,
    /// Nanoseconds since the Unix epoch; [`Stamp::UNTRUSTED`] when the file has to be read again.
    pub(crate) ctime: i64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
}

/// A link or a special file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) name: Box<[u8]>,
    pub(crate) is_link: bool,
    pub(crate) inode: u64,
    pub(crate) ctime: i64,
}

/// The SHA-256 hash of contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digest(pub(crate) [u8; 32]);

impl Tree {
    pub(crate) fn files(&self) -> impl Iterator<Item = (&DirPath, &File)> {
        self.dirs.iter().flat_map(|(path, dir)| dir.files.iter().map(move |file| (path, file)))
    }

    /// Has files read again whose kept contents are gone.
    pub(crate) fn distrust(&mut self, is_gone: impl Fn(&Digest) -> bool) {
        let lost = |file: &File| matches!(&file.content, Content::Kept(digest) if is_gone(digest));
        for dir in self.dirs.values_mut() {
            if dir.files.iter().any(lost) {
                let files = &mut Arc::make_mut(dir).files;
                for file in files.iter_mut().filter(|file| lost(file)) {
                    file.stamp.ctime = Stamp::UNTRUSTED;
                }
            }
        }
    }
}

impl Dir {
    /// A directory that was not looked into.
    pub(crate) const fn closed(mode: u32, reach: Reach) -> Self {
        Self { mode, reach, files: Vec::new(), others: Vec::new() }
    }

    pub(crate) fn file(&self, name: &[u8]) -> Option<&File> {
        let at = self.files.binary_search_by(|file| (*file.name).cmp(name)).ok()?;
        self.files.get(at)
    }

    pub(crate) fn other(&self, name: &[u8]) -> Option<&Other> {
        let at = self.others.binary_search_by(|other| (*other.name).cmp(name)).ok()?;
        self.others.get(at)
    }
}

impl File {
    pub(crate) const fn is_kept(&self) -> bool {
        matches!(self.content, Content::Kept(_))
    }

    /// Whether two records speak of the same contents.
    pub(crate) fn holds_the_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::Kept(one), Content::Kept(another)) => one == another,
            (Content::Kept(_), Content::Unkept(_)) => false,
            // Nothing but the stamp is known; times of the inode also change with its mode.
            (Content::Unkept(_), _) => {
                let seen = |file: &Self| (file.stamp.size, file.stamp.mtime, file.stamp.inode);
                seen(self) == seen(other)
            }
        }
    }
}

impl Stamp {
    /// A change time that no file has.
    pub(crate) const UNTRUSTED: i64 = 0;

    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
        }
    }

    /// The stamp, unless the file could still change without a new one: whatever happens after
    /// `clock` was read carries a later time, so only older files may be told by their stamps.
    pub(crate) const fn unless_racy(mut self, clock: i64) -> Self {
        // File systems that count whole seconds round down, some to even ones.
        let grain = if self.ctime % SECOND == 0 { 2 * SECOND } else { 0 };
        if self.ctime.saturating_add(grain) >= clock {
            self.ctime = Self::UNTRUSTED;
        }
        self
    }
}

impl Digest {
    /// The hash in hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect()
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        (digits.len() == 64).then(|| bytes.try_into().ok().map(Self)).flatten()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

const SECOND: i64 = 1_000_000_000;

pub(crate) const fn nanoseconds(seconds: i64, fraction: u64) -> i64 {
    seconds.saturating_mul(SECOND).saturating_add_unsigned(fraction)
}

fn hex_digit(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}
