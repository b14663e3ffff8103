//! Finding the lines of a transcript file and how they hang together, on several threads.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, Read};
use std::num::NonZeroU128;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use serde::de::IgnoredAny;

use crate::line::FORMAT;
use crate::load::{SkipReason, SkippedLine};
use crate::probe::{self, Probe};

/// Smaller files are not worth a second thread.
const WORTH_A_THREAD: u64 = 1 << 20;
/// More threads would only wait for the disk.
const MOST_THREADS: usize = 4;
const BUFFER: usize = 1 << 18;
/// How many records are looked for in one line whose newlines were damaged.
const MOST_MERGED: usize = 8;

/// Stands for an identifier: a hash wide enough that two of a file are never equal by accident.
pub(crate) type Key = NonZeroU128;

/// What kind of entry a line holds, as far as loading cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A prompt or a tool result.
    User,
    /// A block of the model.
    Assistant,
    /// A note of the engine.
    System,
    /// Something else that others may have as their parent.
    Link,
    /// The newest prompt.
    LastPrompt,
    /// A title.
    CustomTitle,
    /// A tag.
    Tag,
    /// What the session has cost.
    CostState,
    /// Anything else.
    Other,
}

/// A readable line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// How long it is, without its newline.
    pub(crate) length: usize,
    /// Its number, from 1.
    pub(crate) number: u64,
    /// What it holds.
    pub(crate) kind: Kind,
    /// Whether it belongs to a subagent.
    pub(crate) sidechain: bool,
    /// The entry, for members of a chain.
    pub(crate) id: Option<Key>,
    /// The entry before it.
    pub(crate) parent: Option<Key>,
    /// The response it is a block of.
    pub(crate) response: Option<Key>,
    /// The call it answers.
    pub(crate) answers: Option<Key>,
}

/// Everything known of a file after one pass over it.
#[derive(Debug)]
pub(crate) struct Index {
    /// The readable lines in file order.
    pub(crate) lines: Vec<Line>,
    /// The damaged ones.
    pub(crate) skipped: Vec<SkippedLine>,
    /// How the file ends.
    pub(crate) tail: Tail,
    /// The newest format of any line.
    pub(crate) format: u64,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tail {
    /// With a newline.
    #[default]
    Whole,
    /// With a readable line that lacks its newline.
    Unterminated,
    /// With a line that was never finished, beginning here.
    Torn(u64),
}

/// Turns identifiers into keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(RandomState, RandomState);

impl Keys {
    /// The key of an identifier; the empty one has none.
    pub(crate) fn of(&self, text: &str) -> Option<Key> {
        if text.is_empty() {
            return None;
        }
        let wide = u128::from(self.0.hash_one(text)) << 64 | u128::from(self.1.hash_one(text));
        NonZeroU128::new(wide)
    }
}

/// Reads the first `size` bytes of a file.
pub(crate) fn scan(file: &File, size: u64, keys: &Keys) -> io::Result<Index> {
    let sections = split(file, size)?;
    let parts = on_threads(sections, |range| Part::scan(file, range, keys));
    let mut index =
        Index { lines: Vec::new(), skipped: Vec::new(), tail: Tail::default(), format: FORMAT };
    let mut before = 0;
    for part in parts {
        let mut part = part?;
        part.lines.iter_mut().for_each(|line| line.number += before);
        part.skipped.iter_mut().for_each(|skipped| skipped.line += before);
        before += part.count;
        index.lines.append(&mut part.lines);
        index.skipped.append(&mut part.skipped);
        index.format = index.format.max(part.format);
        if part.count > 0 {
            index.tail = part.tail;
        }
    }
    // What was never finished was never acknowledged: it is no damage.
    if matches!(index.tail, Tail::Torn(_)) {
        index.skipped.truncate(index.skipped.len().saturating_sub(1));
    }
    Ok(index)
}

/// Does each job on a thread of its own, the first one on this thread, and keeps their order.
pub(crate) fn on_threads<J: Send, T: Send>(
    jobs: Vec<J>,
    work: impl Fn(J) -> io::Result<T> + Sync,
) -> Vec<io::Result<T>> {
    let work = &work;
    std::thread::scope(|scope| {
        let mut jobs = jobs.into_iter();
        let first = jobs.next();
        let workers: Vec<_> = jobs
            .map(|job| std::thread::Builder::new().spawn_scoped(scope, move || work(job)))
            .collect();
        let mut results: Vec<io::Result<T>> = first.into_iter().map(work).collect();
        let ended_early = |_| io::Error::other("a thread that read the transcript ended early");
        for worker in workers {
            results.push(worker.and_then(|thread| thread.join().map_err(ended_early)?));
        }
        results
    })
}

/// Cuts a file into about equal sections that begin at the beginning of a line.
fn split(file: &File, size: u64) -> io::Result<Vec<Range<u64>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let sections = (size / WORTH_A_THREAD).clamp(1, threads as u64);
    let mut cuts = vec![0];
    for section in 1..sections {
        let middle = size / sections * section;
        let skipped = reader(file, middle..size).skip_until(b'\n')?;
        cuts.push(middle + skipped as u64);
    }
    cuts.push(size);
    Ok(cuts.windows(2).map(|cut| cut[0]..cut[1].max(cut[0])).collect())
}

/// What one thread found; line numbers count from 1 within it.
#[derive(Debug, Default)]
struct Part {
    lines: Vec<Line>,
    skipped: Vec<SkippedLine>,
    count: u64,
    tail: Tail,
    format: u64,
}

impl Part {
    fn scan(file: &File, range: Range<u64>, keys: &Keys) -> io::Result<Self> {
        let mut part = Self::default();
        let mut offset = range.start;
        let mut reader = reader(file, range);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(part);
            }
            part.add_line(offset, &line, keys);
            offset += length as u64;
        }
    }

    fn add_line(&mut self, offset: u64, line: &[u8], keys: &Keys) {
        self.count += 1;
        let text = line.trim_ascii_end();
        let found = self.lines.len();
        let damage = if text.is_empty() { Ok(()) } else { self.add_records(offset, text, keys) };
        let torn = damage == Err(SkipReason::NotJson) && self.lines.len() == found;
        if let Err(reason) = damage {
            self.skipped.push(SkippedLine { line: self.count, reason });
        }
        self.tail = match line.last() {
            _ if torn => Tail::Torn(offset),
            Some(b'\n') => Tail::Whole,
            _ => Tail::Unterminated,
        };
    }

    /// A newline that became another byte joins two lines, and neither of them is damaged.
    fn add_records(&mut self, offset: u64, line: &[u8], keys: &Keys) -> Result<(), SkipReason> {
        let mut start = 0;
        for _ in 0..MOST_MERGED {
            let rest = &line[start..];
            let outcome = self.add_record(offset + start as u64, rest, keys);
            let Some(end) = first_value(rest).filter(|_| outcome == Err(SkipReason::NotJson))
            else {
                return outcome;
            };
            self.add_record(offset + start as u64, &rest[..end], keys)?;
            start += end + 1;
        }
        Err(SkipReason::NotJson)
    }

    fn add_record(&mut self, offset: u64, text: &[u8], keys: &Keys) -> Result<(), SkipReason> {
        let number = self.count;
        let (line, format) = probe::look(text, |probe| {
            (Line { offset, length: text.len(), number, ..line_of(&probe, keys) }, probe.format())
        })?;
        self.format = self.format.max(format);
        self.lines.push(line);
        Ok(())
    }
}

/// Where a value ends after which one stray byte and another object follow.
fn first_value(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let end = values.byte_offset();
    (text.get(end + 1) == Some(&b'{')).then_some(end)
}

fn line_of(probe: &Probe<'_>, keys: &Keys) -> Line {
    let kind = kind_of(probe.kind.unwrap_or_default());
    let in_chain = matches!(kind, Kind::User | Kind::Assistant | Kind::System | Kind::Link);
    let key = |text: Option<&str>| text.filter(|_| in_chain).and_then(|text| keys.of(text));
    let message = probe.message.unwrap_or_default();
    Line {
        offset: 0,
        length: 0,
        number: 0,
        kind,
        sidechain: probe.is_sidechain.unwrap_or(false),
        id: key(probe.uuid),
        parent: key(probe.parent_uuid),
        response: key(message.id).filter(|_| kind == Kind::Assistant),
        answers: key(message.answers.0).filter(|_| kind == Kind::User),
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        "user" => Kind::User,
        "assistant" => Kind::Assistant,
        "system" => Kind::System,
        "attachment" | "progress" => Kind::Link,
        "last-prompt" => Kind::LastPrompt,
        "custom-title" => Kind::CustomTitle,
        "tag" => Kind::Tag,
        "cost-state" => Kind::CostState,
        _ => Kind::Other,
    }
}

/// A part of a file as a stream, without moving the file's own position.
#[derive(Debug)]
struct Section<'a> {
    file: &'a File,
    left: Range<u64>,
}

fn reader(file: &File, range: Range<u64>) -> BufReader<Section<'_>> {
    BufReader::with_capacity(BUFFER, Section { file, left: range })
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left.end.saturating_sub(self.left.start));
        let wanted = buffer.len().min(left.unwrap_or(usize::MAX));
        let got = self.file.read_at(&mut buffer[..wanted], self.left.start)?;
        self.left.start += got as u64;
        Ok(got)
    }
}
