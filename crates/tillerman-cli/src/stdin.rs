//! Prompts and control frames from standard input, read on a thread of its own.

use std::io::{BufRead, Read as _};

use tillerman_assembly::{SessionHandle, read_frame};
use tokio::sync::oneshot;

/// The longest line that is taken; no provider accepts a larger request.
const LONGEST_LINE: u64 = 32 << 20;
/// The largest text prompt that is taken from a pipe.
const LARGEST_PROMPT: u64 = 10 << 20;

/// Why standard input cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StdinError {
    /// A line is not JSON, or a prompt or request of a shape that nobody can read.
    #[error(
        "Line {line} of standard input ({length} bytes) is not a frame: {source}. Nothing after it was read."
    )]
    NotAFrame {
        /// The line's number, from 1.
        line: u64,
        /// Its length.
        length: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line is too long.
    #[error(
        "Line {line} of standard input is longer than 32 MiB. Nothing of it was used. Put large material into a file and name the file."
    )]
    TooLong {
        /// The line's number, from 1.
        line: u64,
    },
    /// A prompt is too long.
    #[error(
        "The prompt on standard input is larger than 10 MB. Put large material into a file and name the file."
    )]
    PromptTooLong,
    /// The system would not read.
    #[error("Standard input cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// The first line of the input, for a host that begins with the handshake.
///
/// # Errors
/// When standard input cannot be read.
pub(crate) fn first_line() -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    std::io::stdin().lock().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Reads frames until the input ends, after what was read already; a line that makes no sense ends
/// everything.
pub(crate) fn read_frames(
    session: SessionHandle,
    fatal: oneshot::Sender<StdinError>,
    before: Vec<u8>,
) {
    std::thread::spawn(move || {
        let mut input = before.as_slice().chain(std::io::stdin().lock());
        if let Err(error) = forward(&mut input, &session) {
            // Without a listener the process is ending anyway.
            drop(fatal.send(error));
        } else {
            drop(session.blocking_close());
        }
    });
}

fn forward(input: &mut impl BufRead, session: &SessionHandle) -> Result<(), StdinError> {
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.len() as u64 > LONGEST_LINE {
            return Err(StdinError::TooLong { line: number });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let frame = read_frame(&line).map_err(|source| StdinError::NotAFrame {
            line: number,
            length: line.len(),
            source,
        })?;
        if session.blocking_send(frame).is_err() {
            return Ok(());
        }
    }
}

/// Whether a pipe has something to say, or ends, within a moment. A prompt on the command line does
/// not wait longer for a pipe that somebody merely left open.
pub(crate) fn has_something() -> bool {
    let found = stirs_within(3);
    if !found {
        tracing::warn!("standard input is open but silent; going on with the prompt alone");
    }
    found
}

/// Waits for a host's first request before a start that failed ends the process. A host whose
/// request cannot be written reports a broken pipe instead of what went wrong.
pub(crate) fn hear_the_host_out() {
    stirs_within(2);
}

fn stirs_within(seconds: i64) -> bool {
    let stdin = std::io::stdin();
    let mut ready = [rustix::event::PollFd::new(&stdin, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec { tv_sec: seconds, tv_nsec: 0 };
    rustix::event::poll(&mut ready, Some(&patience)).unwrap_or(1) > 0
}

/// Reads a whole text prompt from a pipe.
pub(crate) fn read_prompt() -> Result<String, StdinError> {
    let mut text = Vec::new();
    std::io::stdin().lock().take(LARGEST_PROMPT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST_PROMPT {
        return Err(StdinError::PromptTooLong);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
