//! Replacing a file's content so that readers see the old or the new one, never a part.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::Access;

use crate::config::ToolConfig;
use crate::files::RemovedOnDrop;

static REPLACEMENTS: AtomicU64 = AtomicU64::new(0);

/// Why a file could not be replaced. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplaceFileError {
    /// Nothing happened to the file.
    #[error("{0}. Its content is as it was")]
    Untouched(#[from] io::Error),
    /// It had to be written in place, which failed on the way.
    #[error("{0}. It may be incomplete now; read it before going on")]
    Incomplete(io::Error),
}

/// Writes a file whole, making its directories where they are missing. The path must have no
/// links left to follow.
///
/// The content goes to a file beside it that then takes its name, with the mode and, where the
/// system allows, the owner of the file it replaces. Only where that is impossible, as for a file
/// mounted by itself or in a directory that is not writable, is the file written in place.
///
/// Under confinement it is the confiner that writes, as it would for a command.
pub(crate) fn replace(
    target: &Path,
    content: &[u8],
    config: &ToolConfig,
) -> Result<(), ReplaceFileError> {
    if let Some(confiner) = &config.confiner {
        return Ok(confiner.replace(target, content)?);
    }
    let directory = target.parent().unwrap_or(Path::new("/"));
    let present = match std::fs::symlink_metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(directory)?;
            return Ok(swap_in(target, directory, content, None)?);
        }
        Err(error) => return Err(error.into()),
    };
    // Taking a file's name needs no right to the file itself, so that right is checked here.
    rustix::fs::access(target, Access::WRITE_OK).map_err(io::Error::from)?;
    match swap_in(target, directory, content, Some(&present)) {
        Err(error) if needs_writing_in_place(&error) => {
            let mut file = OpenOptions::new().write(true).open(target)?;
            let written = file.set_len(0).and_then(|()| file.write_all(content));
            written.map_err(ReplaceFileError::Incomplete)
        }
        outcome => Ok(outcome?),
    }
}

fn swap_in(
    target: &Path,
    directory: &Path,
    content: &[u8],
    present: Option<&Metadata>,
) -> io::Result<()> {
    let mut draft = RemovedOnDrop::new(draft_path(target, directory)?);
    let mode = if present.is_some() { 0o600 } else { 0o666 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(draft.path())?;
    file.write_all(content)?;
    if let Some(present) = present {
        take_over(&file, present)?;
    }
    std::fs::rename(draft.path(), target)?;
    draft.keep();
    Ok(())
}

fn take_over(file: &File, present: &Metadata) -> io::Result<()> {
    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (present.uid(), present.gid()) {
        // Only the superuser can give files away; for others the file becomes their own.
        std::os::unix::fs::fchown(file, Some(present.uid()), Some(present.gid())).ok();
    }
    let mode: Permissions = present.permissions();
    file.set_permissions(mode)
}

fn draft_path(target: &Path, directory: &Path) -> io::Result<PathBuf> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let number = REPLACEMENTS.fetch_add(1, Ordering::Relaxed);
    let mut draft = OsString::from(".");
    // Names may have at most 255 bytes, so a long one is left out of the draft's.
    if name.len() < 200 {
        draft.push(name);
    }
    draft.push(format!(".tillerman-{}-{number}", std::process::id()));
    Ok(directory.join(draft))
}

fn needs_writing_in_place(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}
