//! Files of lines that only grow: whoever dies while writing loses at most the line it wrote.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk;

/// Appends one line in one write, while nobody else appends.
pub(crate) fn append(path: &Path, line: &impl Serialize) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    disk::create_directories(directory)?;
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(disk::flags())
        .open(path)?;
    // Held for a single write by processes that do nothing else meanwhile.
    match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    if is_torn(&mut file)? {
        bytes.push(b'\n');
    }
    serde_json::to_writer(&mut bytes, line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_data()
}

/// Every line that can be read; a file that is not there has none.
pub(crate) fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let Ok(file) = disk::open(path, disk::Purpose::Read) else { return Vec::new() };
    let mut text = Vec::new();
    if io::BufReader::new(file).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Whether the last line has no end, since its writer died.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
