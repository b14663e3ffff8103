//! Where a command starts, and where it leaves the shell for the next one.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tillerman_protocol::tool::ToolFailure;

use crate::session::Session;

/// Far longer than any path.
const LONGEST_PATH: u64 = 64 * 1024;

/// The directory the next command starts in.
///
/// # Errors
/// When it is gone; the session's own directory takes its place from the next command on.
pub(crate) fn starting_directory(session: &Session) -> Result<PathBuf, ToolFailure> {
    let directory = session.shell_directory();
    if directory.is_dir() {
        return Ok(directory);
    }
    let cwd = &session.config().cwd;
    session.set_shell_directory(cwd.clone());
    let gone = directory.display();
    Err(ToolFailure::new(if directory == *cwd {
        format!(
            "The command was not run: its working directory {gone} does not exist any more. \
             Create it again, or start a session elsewhere."
        )
    } else {
        format!(
            "The command was not run: the shell's directory {gone} does not exist any more. \
             The next command starts in {}.",
            cwd.display()
        )
    }))
}

/// Keeps the directory a command ended in, or explains why the next one starts elsewhere.
pub(crate) fn carry_over(session: &Session, start: &Path, end: Option<&Path>) -> Option<String> {
    let end = end?.canonicalize().ok()?;
    if start.canonicalize().is_ok_and(|start| start == end) {
        return None;
    }
    if session.may_stay_in(&end) {
        session.set_shell_directory(end);
        return None;
    }
    let cwd = session.config().cwd.clone();
    let note = format!(
        "[The shell's directory is {} again, because {} is outside the working directories.]",
        cwd.display(),
        end.display()
    );
    session.set_shell_directory(cwd);
    Some(note)
}

/// The directory a shell wrote down as it ended, if it did. The command could write there too, so
/// whatever is not a small plain file is left alone.
pub(crate) fn read_final_directory(path: &Path) -> Option<PathBuf> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let length = file.take(LONGEST_PATH).read_to_end(&mut bytes).ok()?;
    if length as u64 == LONGEST_PATH {
        return None;
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
}
