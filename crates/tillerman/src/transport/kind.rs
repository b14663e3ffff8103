//! Asks a program whether it is Tillerman.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// What Tillerman says of itself behind the level of its protocol.
const OWN_NAME: &str = "(Tillerman ";
/// A version is one line.
const LONGEST_VERSION: u64 = 1 << 10;
/// A program that takes longer has not said what it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a program is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tillerman.
    Tillerman,
    /// Another one, with the first line of its version; empty where it said nothing.
    Other(String),
}

/// Runs the command, which asks a program for its version.
///
/// # Errors
/// When the program cannot be started.
///
/// # Cancel safety
/// The program is killed when the future is dropped.
pub(crate) async fn ask(mut question: Command) -> io::Result<Kind> {
    question.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = question.spawn()?;
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // What was said before the time was over counts, and an unreadable pipe says nothing.
        let _is_late = timeout(PATIENCE, stdout.take(LONGEST_VERSION).read_to_end(&mut said)).await;
    }
    Ok(read(&String::from_utf8_lossy(&said)))
}

fn read(said: &str) -> Kind {
    let line = said.lines().next().unwrap_or_default().trim();
    if line.contains(OWN_NAME) { Kind::Tillerman } else { Kind::Other(line.to_owned()) }
}
