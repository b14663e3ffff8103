//! Keeping a command's output in little memory: its beginning, its end and a file for the whole.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::run::Sink;
use crate::config::ToolLimits;
use crate::files::RemovedOnDrop;

/// How much of the end is kept in memory.
const TAIL_BYTES: usize = 32 * 1024;
/// The beginning and the end a model sees of an output that is too long.
const PREVIEW_CHARS: usize = 4_000;
/// How much is passed on at a time.
const CHUNK: usize = 64 * 1024;

/// Output as it comes in.
#[derive(Debug)]
pub(crate) struct Capture {
    limits: ToolLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    saved: u64,
    file: SpillFile,
    path: RemovedOnDrop,
}

#[derive(Debug)]
enum SpillFile {
    Unused,
    Open(File),
    Broken(io::Error),
}

/// Whether the command did what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Success {
    /// It did.
    Yes,
    /// It did not.
    No,
}

/// Output as it is passed on.
#[derive(Debug)]
pub(crate) struct Captured {
    /// What the model sees.
    pub(crate) shown: String,
    /// What hosts see.
    pub(crate) inline: String,
    /// The file with the whole output and its size, when there is more than is shown.
    pub(crate) saved: Option<(PathBuf, u64)>,
}

impl Capture {
    /// Output that goes to `path` once it is too long to be passed on directly.
    pub(crate) fn new(limits: ToolLimits, path: PathBuf) -> Self {
        Self {
            limits,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            saved: 0,
            file: SpillFile::Unused,
            path: RemovedOnDrop::new(path),
        }
    }

    /// Ends the output and puts what does not fit into the file.
    ///
    /// # Cancel safety
    /// When the future is dropped the file is removed.
    pub(crate) async fn finish(mut self, success: Success) -> Captured {
        let most = match success {
            Success::Yes => self.limits.inline_chars,
            Success::No => self.limits.failure_chars,
        };
        let head = display(&self.head);
        let whole = self.total == self.head.len() as u64;
        if whole && head.chars().count() <= most {
            let shown = without_blank_beginning(head.trim_end()).to_owned();
            return Captured { inline: shown.clone(), shown, saved: None };
        }
        self.open_file().await;
        self.close_file().await;
        let side = match success {
            Success::Yes => PREVIEW_CHARS.min(most / 2),
            Success::No => most / 2,
        };
        let tail = if whole { head.clone() } else { display(&self.end()) };
        let saved = (self.saved > 0).then(|| (self.path.path().to_path_buf(), self.saved));
        let beginning = first_chars(&head, side);
        let end = last_chars(&tail, side).trim_end();
        let shown = format!("{beginning}\n\n{}\n\n{end}", self.gap());
        let inline = first_chars(&head, self.limits.inline_chars).trim_end().to_owned();
        if saved.is_some() {
            self.path.keep();
        }
        Captured { shown, inline, saved }
    }

    /// Passes everything on to where the rest of the output goes.
    pub(crate) async fn pour(mut self, into: &mut impl Sink) {
        self.close_file().await;
        let copied = match &self.file {
            SpillFile::Unused => return into.push(&self.head).await,
            SpillFile::Open(_) => copy(self.path.path(), into).await.is_ok(),
            SpillFile::Broken(_) => false,
        };
        if !copied {
            let end = self.end();
            let gap = "\n[... Some of the output is missing here. ...]\n";
            for part in [&self.head[..], gap.as_bytes(), &end[..]] {
                into.push(part).await;
            }
        }
    }

    /// The last bytes, also when they lie partly in the beginning.
    fn end(&self) -> Vec<u8> {
        let missing = TAIL_BYTES.saturating_sub(self.tail.len()).min(self.head.len());
        let mut end = self.head[self.head.len() - missing..].to_vec();
        end.extend(&self.tail);
        let whole_char = end.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count();
        end.split_off(whole_char)
    }

    fn gap(&self) -> String {
        let total = self.total;
        match &self.file {
            SpillFile::Broken(error) => format!(
                "[... The output has {total} bytes; only its beginning and end are shown, \
                 and the whole could not be saved: {error}. Run the command again with less output. ...]"
            ),
            SpillFile::Unused | SpillFile::Open(_) => format!(
                "[... The output has {total} bytes; only its beginning and end are shown. \
                 The whole is in {}: search it with grep, or look at parts with Read. ...]",
                self.path.path().display()
            ),
        }
    }

    async fn open_file(&mut self) {
        if !matches!(self.file, SpillFile::Unused) {
            return;
        }
        self.file = match create(self.path.path()).await {
            Ok(file) => SpillFile::Open(file),
            Err(error) => SpillFile::Broken(error),
        };
        let head = std::mem::take(&mut self.head);
        self.save(&head).await;
        self.head = head;
    }

    async fn save(&mut self, bytes: &[u8]) {
        if let SpillFile::Open(file) = &mut self.file {
            match file.write_all(bytes).await {
                Ok(()) => self.saved += bytes.len() as u64,
                Err(error) => self.file = SpillFile::Broken(error),
            }
        }
    }

    async fn close_file(&mut self) {
        if let SpillFile::Open(file) = &mut self.file
            && let Err(error) = file.flush().await
        {
            self.file = SpillFile::Broken(error);
        }
    }
}

/// Pieces whose future is dropped may be missing from the file.
impl Sink for Capture {
    async fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        // A character has at most four bytes: beyond this there are certainly too many.
        let room = (4 * self.limits.inline_chars).saturating_sub(self.head.len()).min(piece.len());
        let (first, rest) = piece.split_at(room);
        self.head.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        let kept = &rest[rest.len().saturating_sub(TAIL_BYTES)..];
        let surplus = (self.tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(kept);
        self.open_file().await;
        self.save(rest).await;
    }

    fn is_over_limit(&self) -> bool {
        self.total > self.limits.output_bytes
    }
}

async fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).await
}

async fn copy(path: &Path, into: &mut impl Sink) -> io::Result<()> {
    let mut file = File::open(path).await?;
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer).await? {
            0 => return Ok(()),
            read => into.push(&buffer[..read]).await,
        }
    }
}

/// Bytes as text that can go into any frame.
fn display(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// Text without the blank lines it begins with.
fn without_blank_beginning(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    text[..blank].rfind('\n').map_or(text, |end| &text[end + 1..])
}

fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

fn last_chars(text: &str, count: usize) -> &str {
    let Some(last) = count.checked_sub(1) else { return "" };
    text.char_indices().rev().nth(last).map_or(text, |(start, _)| &text[start..])
}
