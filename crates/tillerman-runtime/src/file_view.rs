//! A look at a file for the host, no larger than a line of output can be.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes that fit into a line of output, whatever they are written as.
const MOST: u64 = 160_000;

/// What is seen of a file.
#[derive(Debug)]
pub(crate) struct FileView {
    /// The beginning, or all of it.
    pub(crate) bytes: Vec<u8>,
    /// The file, named without links.
    pub(crate) path: PathBuf,
    /// Whether there is more.
    pub(crate) truncated: bool,
}

/// Looks at a regular file.
pub(crate) fn view(path: &Path, most: Option<u64>) -> io::Result<FileView> {
    let path = path.canonicalize()?;
    if !path.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let most = most.unwrap_or(MOST).min(MOST);
    let mut bytes = Vec::new();
    File::open(&path)?.take(most + 1).read_to_end(&mut bytes)?;
    let truncated = bytes.len() as u64 > most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(FileView { bytes, path, truncated })
}

/// Bytes as text that every program can read.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
