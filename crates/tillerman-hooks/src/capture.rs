//! What a command prints, as much of it as anybody may want.

use tillerman_protocol::frame::HookPrinted;

/// Answers are read from this much of the standard output.
const STDOUT: usize = 8 << 20;
/// Reasons are read from this much of the standard error.
const STDERR: usize = 256 << 10;
/// A first line that says something is no longer than this.
const LONGEST_LINE: usize = 4 << 10;
/// Hosts are shown this much of each.
const SHOWN: usize = 30_000;
/// A command that prints more than this is ended.
const MOST: u64 = 64 << 20;

/// Everything a command has printed so far.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Both, in the order in which they came.
    together: Vec<u8>,
    total: u64,
    stdout_total: u64,
}

/// What is known about the first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstLine<'a> {
    Coming,
    Whole(&'a [u8]),
    TooLong,
}

/// Where a piece came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Stdout,
    Stderr,
}

impl Capture {
    pub(crate) fn push(&mut self, channel: Channel, piece: &[u8]) {
        let length = piece.len() as u64;
        self.total += length;
        keep(&mut self.together, piece, SHOWN);
        match channel {
            Channel::Stdout => {
                self.stdout_total += length;
                keep(&mut self.stdout, piece, STDOUT);
            }
            Channel::Stderr => keep(&mut self.stderr, piece, STDERR),
        }
    }

    /// Whether it is more than any command may print.
    pub(crate) const fn is_flood(&self) -> bool {
        self.total > MOST
    }

    /// Whether the standard output was too long to be kept whole.
    pub(crate) const fn is_cut(&self) -> bool {
        self.stdout_total > self.stdout.len() as u64
    }

    /// How much came so far.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// What is known about the first line.
    pub(crate) fn first_line(&self) -> FirstLine<'_> {
        let beginning = &self.stdout[..self.stdout.len().min(LONGEST_LINE)];
        match beginning.iter().position(|byte| *byte == b'\n') {
            Some(end) => FirstLine::Whole(&beginning[..end]),
            None if beginning.len() < LONGEST_LINE => FirstLine::Coming,
            None => FirstLine::TooLong,
        }
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What hosts are shown.
    pub(crate) fn printed(&self) -> HookPrinted {
        HookPrinted {
            output: shown(&self.together),
            stdout: shown(&self.stdout),
            stderr: shown(&self.stderr),
        }
    }
}

fn keep(held: &mut Vec<u8>, piece: &[u8], most: usize) {
    let room = most.saturating_sub(held.len()).min(piece.len());
    held.extend_from_slice(&piece[..room]);
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned()
}
