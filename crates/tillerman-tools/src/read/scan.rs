//! Picking lines out of a file of any size.

use std::io;

use tokio_util::sync::CancellationToken;

use crate::files::{Fingerprint, FingerprintBuilder};

/// Longer lines are cut.
pub(crate) const LINE_CHARS: usize = 2_000;
/// About 25,000 tokens.
const SHOWN_BYTES: usize = 100_000;
const CHUNK: usize = 64 * 1024;

/// What a file holds in the lines asked for, and how much there is in all.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The lines asked for, without their ends, as far as they fit.
    pub(crate) lines: Vec<String>,
    /// How many lines the file has.
    pub(crate) total_lines: u64,
    /// Recognises the whole content.
    pub(crate) fingerprint: Fingerprint,
    /// Whether lines asked for were left out because there were too many.
    pub(crate) capped: bool,
    /// How many lines were cut.
    pub(crate) cut_lines: u64,
    /// Whether bytes that are no text were replaced.
    pub(crate) replaced: bool,
}

/// Reads to the end and keeps `count` lines from line `first` on, counted from 1. Memory does not
/// grow with the parts that are not kept.
///
/// # Errors
/// What the system says, also when the token fires.
pub(crate) fn scan(
    mut source: impl io::Read,
    first: u64,
    count: u64,
    cancel: &CancellationToken,
) -> io::Result<Scan> {
    let mut picker = Picker::new(first, first.saturating_add(count));
    let mut fingerprint = FingerprintBuilder::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        if cancel.is_cancelled() {
            return Err(io::Error::other("the call was interrupted"));
        }
        let count = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        fingerprint.push(&chunk[..count]);
        picker.feed(&chunk[..count]);
    }
    Ok(picker.finish(fingerprint.finish()))
}

struct Picker {
    first: u64,
    end: u64,
    line: u64,
    line_open: bool,
    kept: Vec<u8>,
    dropped: u64,
    cost: usize,
    lines: Vec<String>,
    capped: bool,
    cut_lines: u64,
    replaced: bool,
}

impl Picker {
    fn new(first: u64, end: u64) -> Self {
        Self {
            first,
            end,
            line: 1,
            line_open: false,
            kept: Vec::new(),
            dropped: 0,
            cost: 0,
            lines: Vec::new(),
            capped: false,
            cut_lines: 0,
            replaced: false,
        }
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while self.line < self.end {
            let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
                self.extend_line(bytes);
                return;
            };
            self.extend_line(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.line += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.line_open = bytes.last().map_or(self.line_open, |&byte| byte != b'\n');
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.line_open |= !bytes.is_empty();
        if self.line < self.first {
            return;
        }
        // A character has at most four bytes, and one more proves that the line is too long.
        let room = (4 * (LINE_CHARS + 1)).saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.dropped += (bytes.len() - room) as u64;
    }

    fn end_line(&mut self) {
        if self.line >= self.first {
            self.show_line();
        }
        self.line += 1;
        self.line_open = false;
    }

    fn show_line(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let dropped = std::mem::take(&mut self.dropped);
        let valid = match std::str::from_utf8(&kept) {
            Ok(text) => !text.contains('\0'),
            Err(error) => dropped > 0 && error.error_len().is_none(),
        };
        let text = String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}");
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let text = if self.line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let cut = text.char_indices().nth(LINE_CHARS).map(|(end, _)| end);
        let mut shown = text[..cut.unwrap_or(text.len())].to_owned();
        if let Some(end) = cut {
            let missing = dropped + (text.len() - end) as u64;
            shown.push_str(&format!(" [line cut here, about {missing} more bytes]"));
        }
        // Control characters take six characters in a frame.
        let cost = shown.len() + 7 + 5 * shown.bytes().filter(u8::is_ascii_control).count();
        if self.cost + cost > SHOWN_BYTES && !self.lines.is_empty() {
            self.capped = true;
            self.end = self.line;
            return;
        }
        self.cost += cost;
        self.cut_lines += u64::from(cut.is_some());
        self.replaced |= !valid;
        self.lines.push(shown);
    }

    fn finish(mut self, fingerprint: Fingerprint) -> Scan {
        if self.line_open {
            if self.line < self.end {
                self.end_line();
            } else {
                self.line += 1;
            }
        }
        Scan {
            lines: self.lines,
            total_lines: self.line - 1,
            fingerprint,
            capped: self.capped,
            cut_lines: self.cut_lines,
            replaced: self.replaced,
        }
    }
}
