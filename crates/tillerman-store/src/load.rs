//! Reading the part of a transcript that resuming it needs.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tillerman_protocol::EntryId;
use tillerman_protocol::transcript::{AssistantEntry, Entry, UserEntry};

use crate::chain::{self, Leaf, Selection};
use crate::index::{self, Index, Keys, Kind, Line, Tail};
use crate::line;

/// How much is read at once when lines lie close together.
const WINDOW: usize = 1 << 18;
/// Fewer lines are not worth a second thread.
const WORTH_A_THREAD: usize = 2_000;

/// Where a resumed conversation goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResumeAt {
    /// At its end.
    #[default]
    End,
    /// After this entry; everything later is left out.
    Entry(EntryId),
}

/// What was read of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The main chain with its parallel siblings, the notes of the engine and the newest line of
    /// each kind of metadata, in file order.
    pub entries: Vec<Entry>,
    /// The last entry of the chain, which the next one names as its parent.
    pub leaf: Option<EntryId>,
    /// What was wrong with the file.
    pub repairs: Repairs,
}

/// What was wrong with a transcript file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// The size of the line at the end that was never finished; resuming cuts it off.
    pub torn_tail_bytes: u64,
    /// Damaged lines, which stay in the file and are left out.
    pub skipped: Vec<SkippedLine>,
}

/// A damaged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Its number in the file, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: SkipReason,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// It cannot be read as a JSON object.
    #[error("not a JSON object")]
    NotJson,
    /// It is not what was written.
    #[error("the checksum does not match")]
    Checksum,
}

/// Why a file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// A line is of a format this program does not know.
    #[error("format {0} is not known")]
    NewerFormat(u64),
    /// There is no such entry to resume at.
    #[error("there is no such entry")]
    NoSuchEntry,
    /// The file could not be read.
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
}

/// Loads a file without changing it, and says how it ends.
pub(crate) fn load(file: &File, resume_at: &ResumeAt) -> Result<(Loaded, Tail), LoadError> {
    let size = file.metadata()?.len();
    let keys = Keys::default();
    let index = index::scan(file, size, &keys)?;
    if index.format > line::FORMAT {
        return Err(LoadError::NewerFormat(index.format));
    }
    let leaf = match resume_at {
        ResumeAt::End => Leaf::Newest,
        ResumeAt::Entry(id) => keys.of(id.as_str()).map_or(Leaf::Nowhere, Leaf::At),
    };
    let selection = chain::select(&index.lines, &index.skipped, leaf);
    let selection = selection.ok_or(LoadError::NoSuchEntry)?;
    let loaded = parse_selection(file, &index, &selection)?;
    let torn_tail_bytes = match index.tail {
        Tail::Torn(start) => size - start,
        Tail::Whole | Tail::Unterminated => 0,
    };
    let mut skipped = index.skipped;
    skipped.extend(loaded.unreadable);
    skipped.sort_by_key(|skipped| skipped.line);
    let repairs = Repairs { torn_tail_bytes, skipped };
    Ok((Loaded { entries: loaded.entries, leaf: loaded.leaf, repairs }, index.tail))
}

#[derive(Debug, Default)]
struct Parsed {
    entries: Vec<Entry>,
    leaf: Option<EntryId>,
    unreadable: Vec<SkippedLine>,
}

fn parse_selection(file: &File, index: &Index, selection: &Selection) -> io::Result<Parsed> {
    let leaf = selection.leaf.map(|at| index.lines[at].offset);
    let positions = selection.positions.as_slice();
    let (first, second) = match positions.len() {
        ..WORTH_A_THREAD => (positions, [].as_slice()),
        count => positions.split_at(count / 2),
    };
    let jobs = [first, second].into_iter().filter(|job| !job.is_empty()).collect();
    let parts = index::on_threads(jobs, |positions: &[usize]| {
        let mut window = Window::new(file);
        let mut parsed = Parsed::default();
        for line in positions.iter().map(|&at| &index.lines[at]) {
            parse_line(window.bytes(line)?, line, leaf, &mut parsed);
        }
        Ok(parsed)
    });
    let mut whole = Parsed::default();
    for part in parts {
        let mut part = part?;
        whole.entries.append(&mut part.entries);
        whole.unreadable.append(&mut part.unreadable);
        whole.leaf = part.leaf.or(whole.leaf);
    }
    Ok(whole)
}

fn parse_line(bytes: &[u8], line: &Line, leaf: Option<u64>, parsed: &mut Parsed) {
    let Some(mut entry) = parse_entry(bytes, line.kind) else {
        let reason = SkipReason::NotJson;
        parsed.unreadable.push(SkippedLine { line: line.number, reason });
        return;
    };
    line::drop_own_fields(&mut entry);
    if leaf == Some(line.offset) {
        parsed.leaf = id_of(&entry);
    }
    parsed.entries.push(entry);
}

/// The identifier of an entry, whether or not its kind is known here.
pub(crate) fn id_of(entry: &Entry) -> Option<EntryId> {
    match entry {
        Entry::Other(fields) => fields.get("uuid").and_then(Value::as_str).map(EntryId::from),
        entry => entry.link().map(|link| link.uuid.clone()),
    }
}

/// Parses a line as what its type says, which is about twice as fast as having serde find the
/// variant, and as anything at all when it has another shape.
fn parse_entry(bytes: &[u8], kind: Kind) -> Option<Entry> {
    fn typed<T: DeserializeOwned>(
        bytes: &[u8],
        extra: fn(&mut T) -> &mut Map<String, Value>,
    ) -> Option<Box<T>> {
        let mut entry: T = serde_json::from_slice(bytes).ok()?;
        drop(extra(&mut entry).shift_remove("type"));
        Some(Box::new(entry))
    }
    let entry = match kind {
        Kind::User => typed(bytes, |user: &mut UserEntry| &mut user.extra).map(Entry::User),
        Kind::Assistant => {
            typed(bytes, |said: &mut AssistantEntry| &mut said.extra).map(Entry::Assistant)
        }
        _ => None,
    };
    entry.or_else(|| serde_json::from_slice(bytes).ok())
}

/// Hands out lines in file order and reads neighbours together.
#[derive(Debug)]
struct Window<'a> {
    file: &'a File,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Window<'a> {
    const fn new(file: &'a File) -> Self {
        Self { file, start: 0, bytes: Vec::new() }
    }

    fn bytes(&mut self, line: &Line) -> io::Result<&[u8]> {
        if self.place(line).is_none() {
            self.fill(line)?;
        }
        let place = self.place(line).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(&self.bytes[place])
    }

    fn place(&self, line: &Line) -> Option<Range<usize>> {
        let start = usize::try_from(line.offset.checked_sub(self.start)?).ok()?;
        let end = start.checked_add(line.length)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    fn fill(&mut self, line: &Line) -> io::Result<()> {
        self.start = line.offset;
        self.bytes.resize(line.length.max(WINDOW), 0);
        let mut filled = 0;
        while filled < self.bytes.len() {
            match self.file.read_at(&mut self.bytes[filled..], line.offset + filled as u64) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.truncate(filled);
        Ok(())
    }
}
