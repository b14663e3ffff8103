//! Checkpoints as bytes: numbers of variable length, names and hashes as they are.

use std::sync::Arc;

use crate::checkpoint::change::{Change, DirChange};
use crate::checkpoint::tree::{Content, Digest, DirPath, File, Other, Reach, Stamp, Why};

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Counts up from 1 and is never used twice.
    pub(crate) number: u64,
    /// The names this state can be asked for by.
    pub(crate) messages: Vec<String>,
    /// How it follows from the record before it; the first follows from an empty tree.
    pub(crate) change: Change,
}

pub(crate) fn encode(record: &Record) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.number(record.number);
    out.list(&record.messages, |out, message| out.bytes(message.as_bytes()));
    out.list(&record.change.roots, |out, root| out.bytes(root));
    out.list(&record.change.removed, |out, path| out.bytes(path));
    out.list(&record.change.dirs, |out, (path, dir)| {
        out.bytes(path);
        out.directory(dir);
    });
    out.0
}

/// Reads a record; nothing when the bytes make no sense.
pub(crate) fn decode(bytes: &[u8]) -> Option<Record> {
    let mut input = Reader(bytes);
    let number = input.number()?;
    let messages = input.list(|input| String::from_utf8(input.bytes()?.to_vec()).ok())?;
    let change = Change {
        roots: input.list(Reader::path)?,
        removed: input.list(Reader::path)?,
        dirs: input.list(|input| Some((input.path()?, input.directory()?)))?,
    };
    input.0.is_empty().then_some(Record { number, messages, change })
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(low_byte(number) | 0x80);
            number >>= 7;
        }
        self.0.push(low_byte(number));
    }

    /// Small numbers of either sign become small numbers.
    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }

    fn directory(&mut self, dir: &DirChange) {
        self.number(dir.mode.into());
        self.0.push(match dir.reach {
            Reach::Open => 0,
            Reach::Unreadable => 1,
            Reach::Foreign => 2,
            Reach::Excluded => 3,
        });
        self.list(&dir.others, |out, other| {
            out.bytes(&other.name);
            out.0.push(other.is_link.into());
            out.number(other.inode);
            out.signed(other.ctime);
        });
        self.list(&dir.removed, |out, name| out.bytes(name));
        self.list(&dir.files, Self::file);
    }

    fn file(&mut self, file: &File) {
        self.bytes(&file.name);
        self.number(file.stamp.size);
        self.signed(file.stamp.mtime);
        self.signed(file.stamp.ctime);
        self.number(file.stamp.inode);
        self.number(file.stamp.mode.into());
        self.number(file.stamp.owner.0.into());
        self.number(file.stamp.owner.1.into());
        match &file.content {
            Content::Kept(digest) => {
                self.0.push(0);
                self.0.extend_from_slice(&digest.0);
            }
            Content::Unkept(Why::TooLarge) => self.0.push(1),
            Content::Unkept(Why::OverBudget) => self.0.push(2),
            Content::Unkept(Why::Unreadable) => self.0.push(3),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?.try_into().ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn path(&mut self) -> Option<DirPath> {
        self.bytes().map(Arc::from)
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| read(self)).collect()
    }

    fn directory(&mut self) -> Option<DirChange> {
        let mode = self.small()?;
        let reach = match self.byte()? {
            0 => Reach::Open,
            1 => Reach::Unreadable,
            2 => Reach::Foreign,
            3 => Reach::Excluded,
            _ => return None,
        };
        let others = self.list(|input| {
            Some(Other {
                name: input.bytes()?.into(),
                is_link: input.byte()? != 0,
                inode: input.number()?,
                ctime: input.signed()?,
            })
        })?;
        let removed = self.list(|input| Some(input.bytes()?.into()))?;
        Some(DirChange { mode, reach, others, removed, files: self.list(Self::file)? })
    }

    fn file(&mut self) -> Option<File> {
        let name = self.bytes()?.into();
        let stamp = Stamp {
            size: self.number()?,
            mtime: self.signed()?,
            ctime: self.signed()?,
            inode: self.number()?,
            mode: self.small()?,
            owner: (self.small()?, self.small()?),
        };
        let content = match self.byte()? {
            0 => {
                let (digest, rest) = self.0.split_first_chunk()?;
                self.0 = rest;
                Content::Kept(Digest(*digest))
            }
            1 => Content::Unkept(Why::TooLarge),
            2 => Content::Unkept(Why::OverBudget),
            3 => Content::Unkept(Why::Unreadable),
            _ => return None,
        };
        Some(File { name, stamp, content })
    }
}

fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0]
}
