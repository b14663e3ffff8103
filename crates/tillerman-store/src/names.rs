//! Where things lie below the configuration directory, by name alone.

use std::path::{Path, PathBuf};

use tillerman_protocol::SessionId;

/// Directory names up to this length carry no hash; file systems allow 255.
pub(crate) const LONGEST_PLAIN_NAME: usize = 200;

/// The name of the directory that holds the transcripts of a working directory.
///
/// Everything but ASCII letters and digits becomes a hyphen. Long names are cut and end in a hash
/// of the whole path, which is what official session helpers compute too.
#[must_use]
pub fn project_name(cwd: &str) -> String {
    let mut name: String =
        cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if name.len() > LONGEST_PLAIN_NAME {
        name.truncate(LONGEST_PLAIN_NAME);
        name.push('-');
        name.push_str(&base36(path_hash(cwd)));
    }
    name
}

/// Where large tool outputs of the session with this transcript go. Nothing is created.
#[must_use]
pub fn tool_results_dir(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("tool-results")
}

/// Where the transcripts of the subagents of the session with this transcript go. Nothing is
/// created.
#[must_use]
pub fn subagents_dir(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// Whether a session id is a UUID, and so is safe as a file name.
pub(crate) fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The file name of a session's transcript.
pub(crate) fn file_name(id: &SessionId) -> String {
    format!("{id}.jsonl")
}

fn path_hash(path: &str) -> u32 {
    let hash =
        path.chars().fold(0i32, |hash, c| hash.wrapping_mul(31).wrapping_add_unsigned(c.into()));
    hash.unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}
