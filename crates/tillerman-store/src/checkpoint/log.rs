//! The log of checkpoints: whole records or none, each built on the one before it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::checkpoint::codec::{self, Record};

/// What every log begins with; the last byte is the version.
const HEADER: &[u8; 8] = b"TILCKPT\x01";
/// Length and checksum of a record.
const FRAME: usize = 8;

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    /// Where the next record goes.
    length: u64,
}

impl Log {
    /// Opens a log, or makes one. A record that is not whole ends it, and is cut off with
    /// everything behind it.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Vec<Record>)> {
        let mut file = options().create(true).truncate(false).open(path)?;
        let (records, length) = read(&mut file)?;
        file.set_len(length)?;
        let mut log = Self { path: path.to_path_buf(), file, length };
        if length == 0 {
            log.write(HEADER)?;
        }
        Ok((log, records))
    }

    /// Appends a record; on failure nothing of it is left behind.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        let framed = frame(record)?;
        self.write(&framed)
    }

    /// All records from the first.
    pub(crate) fn read(&mut self) -> io::Result<Vec<Record>> {
        Ok(read(&mut self.file)?.0)
    }

    /// Puts these records in the place of all others, at once.
    pub(crate) fn replace(&mut self, records: &[Record]) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        for record in records {
            bytes.extend(frame(record)?);
        }
        let fresh = self.path.with_extension("new");
        let mut file = options().create(true).truncate(true).open(&fresh)?;
        file.write_all(&bytes)?;
        // The old log must not be gone before the new one is safe.
        file.sync_data()?;
        std::fs::rename(&fresh, &self.path)?;
        (self.file, self.length) = (file, bytes.len() as u64);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        if let Err(error) = self.file.write_all(bytes) {
            // Opening the log cuts off what this cannot.
            drop(self.file.set_len(self.length));
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Reads the whole records of a log that belongs to somebody else and changes nothing.
pub(crate) fn peek(path: &Path) -> io::Result<Vec<Record>> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(read(&mut file)?.0)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

fn frame(record: &Record) -> io::Result<Vec<u8>> {
    let payload = codec::encode(record);
    let length = u32::try_from(payload.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut framed = length.to_le_bytes().to_vec();
    framed.extend(crc32fast::hash(&payload).to_le_bytes());
    framed.extend(payload);
    Ok(framed)
}

/// The whole records of a log and where the last of them ends.
fn read(file: &mut File) -> io::Result<(Vec<Record>, u64)> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let Some(mut rest) = bytes.strip_prefix(HEADER) else {
        // A crash may have cut the first eight bytes short; anything else is not ours to change.
        if HEADER.starts_with(&bytes) {
            return Ok((Vec::new(), 0));
        }
        let text = "another version of the program wrote these checkpoints";
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    };
    let mut records = Vec::new();
    while let Some((record, length)) = next(rest) {
        records.push(record);
        rest = &rest[length..];
    }
    Ok((records, (bytes.len() - rest.len()) as u64))
}

fn next(bytes: &[u8]) -> Option<(Record, usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let payload = rest.get(..length)?;
    if crc32fast::hash(payload) != u32::from_le_bytes(*checksum) {
        return None;
    }
    Some((codec::decode(payload)?, FRAME + length))
}
