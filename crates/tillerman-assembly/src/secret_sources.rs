//! Where the user's own settings have secrets read from: files that nobody else can read, and
//! commands that print them.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::io::AsyncReadExt as _;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much is read of a file or of what a command prints; no secret is longer.
const LONGEST: u64 = 64 * 1024;

/// Reads a file that belongs to this user, or to root, and that nobody else can read. Says what is
/// wrong with it otherwise, as a part of a sentence.
pub(crate) fn read_private_file(path: &Path) -> Result<String, String> {
    let shown = path.display();
    // What is no file, such as a pipe, must not make anybody wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut file =
        opened.map_err(|error| match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP) => format!("{shown} is a link; name the file itself"),
            _ => format!("{shown} cannot be read: {error}"),
        })?;
    let metadata = file.metadata().map_err(|error| format!("{shown} cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err(format!("{shown} is no file"));
    }
    if ![0, rustix::process::geteuid().as_raw()].contains(&metadata.uid()) {
        return Err(format!("{shown} belongs to somebody else, who could change it"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!("others can read {shown}; make it yours alone (chmod 600)"));
    }
    let mut text = String::new();
    let read = file.by_ref().take(LONGEST).read_to_string(&mut text);
    read.map_err(|error| format!("{shown} cannot be read: {error}"))?;
    Ok(text)
}

/// Has a shell run a command that prints a secret. Says what went wrong otherwise, as a part of a
/// sentence that never holds what it printed.
///
/// # Cancel safety
/// Dropping the future ends the shell.
pub(crate) async fn ask_command(
    command: &str,
    variables: &[(OsString, OsString)],
    cwd: &Path,
    complaints: Stdio,
) -> Result<String, String> {
    let mut child = tokio::process::Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(complaints)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("could not be run: {error}"))?;
    let mut printed = Vec::new();
    let answered = async {
        if let Some(stdout) = child.stdout.take() {
            stdout.take(LONGEST).read_to_end(&mut printed).await?;
        }
        child.wait().await
    };
    let status = tokio::time::timeout(PATIENCE, answered)
        .await
        .map_err(|_| format!("did not answer within {} seconds", PATIENCE.as_secs()))?
        .map_err(|error| format!("could not be run: {error}"))?;
    let text = String::from_utf8_lossy(&printed).trim().to_owned();
    if !status.success() || text.is_empty() {
        return Err("gave no key".to_owned());
    }
    Ok(text)
}
