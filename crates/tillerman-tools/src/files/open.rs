//! Opening regular files without ever waiting for the other end of a pipe.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use crate::config::ToolConfig;
use crate::files::{Fingerprint, FingerprintBuilder};

const CHUNK: usize = 64 * 1024;

/// Why a file could not be opened. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenFileError {
    /// There is nothing by that name.
    #[error("{} does not exist. Check the path; the session's directory is {}.", path.display(), cwd.display())]
    Missing { path: PathBuf, cwd: PathBuf },
    /// It is a directory.
    #[error("{} is a directory, not a file. List it with Bash: ls -la.", path.display())]
    Directory { path: PathBuf },
    /// It is neither a file nor a directory.
    #[error(
        "{} is {kind}, not a regular file. It was not opened, because that could block or have effects.",
        path.display()
    )]
    Special { path: PathBuf, kind: &'static str },
    /// The system refused.
    #[error("{} could not be opened: {source}. Nothing was changed.", path.display())]
    Refused { path: PathBuf, source: io::Error },
}

/// Opens a regular file for reading.
pub(crate) fn open_regular(
    path: &Path,
    config: &ToolConfig,
) -> Result<(File, Metadata), OpenFileError> {
    let refused = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => {
            OpenFileError::Missing { path: path.to_path_buf(), cwd: config.cwd.clone() }
        }
        _ => OpenFileError::Refused { path: path.to_path_buf(), source },
    };
    ensure_regular(path, &std::fs::metadata(path).map_err(refused)?)?;
    let file = match config.confiner.as_deref().filter(|_| !is_own_output(path, config)) {
        Some(confiner) => confiner.open(path),
        None => {
            // Should a pipe take the file's place in between, opening it must still not block.
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            OpenOptions::new().read(true).custom_flags(flags).open(path)
        }
    };
    let file = file.map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    ensure_regular(path, &metadata)?;
    Ok((file, metadata))
}

/// Whether a file is one that this process itself wrote for the model, which commands cannot reach.
fn is_own_output(path: &Path, config: &ToolConfig) -> bool {
    match (path.canonicalize(), config.scratch_directory.canonicalize()) {
        (Ok(path), Ok(scratch)) => path.starts_with(scratch),
        _ => false,
    }
}

fn ensure_regular(path: &Path, metadata: &Metadata) -> Result<(), OpenFileError> {
    let file_type = metadata.file_type();
    let path = path.to_path_buf();
    let kind = if file_type.is_file() {
        return Ok(());
    } else if file_type.is_dir() {
        return Err(OpenFileError::Directory { path });
    } else if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(OpenFileError::Special { path, kind })
}

/// What a file holds before it is changed.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Recognises the content.
    pub(crate) fingerprint: Fingerprint,
    /// The content, unless it is larger than what was asked for.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Reads a file to its end and keeps the content when it has at most `most` bytes.
///
/// # Errors
/// What the system says, and `Interrupted` when the token fires.
pub(crate) fn load(
    mut file: File,
    metadata: &Metadata,
    most: usize,
    cancel: &CancellationToken,
) -> io::Result<Stored> {
    if Fingerprint::skips(metadata) {
        return Ok(Stored { fingerprint: Fingerprint::of_unread(metadata), bytes: None });
    }
    let mut builder = FingerprintBuilder::default();
    let mut kept = Some(Vec::new());
    let mut chunk = vec![0; CHUNK];
    loop {
        if cancel.is_cancelled() {
            return Err(io::Error::other("the call was interrupted"));
        }
        let count = match file.read(&mut chunk) {
            Ok(0) => return Ok(Stored { fingerprint: builder.finish(), bytes: kept }),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        builder.push(&chunk[..count]);
        kept = kept.filter(|bytes| bytes.len() + count <= most);
        if let Some(bytes) = &mut kept {
            bytes.extend_from_slice(&chunk[..count]);
        }
    }
}
