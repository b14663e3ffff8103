//! How many lines a rewind brings back and takes away, where texts are small enough to compare.

use std::collections::HashMap;
use std::fs::File as OpenFile;
use std::io::{self, Read as _};
use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use crate::checkpoint::objects::Objects;
use crate::checkpoint::plan::{Place, Plan};
use crate::checkpoint::reach;
use crate::checkpoint::tree::{Content, File};

/// Texts beyond this are not counted.
const LARGEST: u64 = 1 << 20;
/// Bytes that all comparisons together may take.
const BUDGET: u64 = 64 << 20;
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Lines that come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) inserted: u64,
    pub(crate) deleted: u64,
}

/// Counts the lines a plan changes. Files that are not text count as none.
pub(crate) fn count(plan: &Plan, objects: &Objects) -> Lines {
    let (mut lines, mut left) = (Lines::default(), BUDGET);
    // A file that was moved is deleted in one place and restored in another; both count, as in any
    // listing of changed lines.
    let changes = plan.delete.iter().map(|place| (place, None));
    let changes = changes.chain(plan.restore.iter().map(|(place, file)| (place, Some(file))));
    for (place, file) in changes {
        let old = read_present(place);
        let new = file.map_or_else(|| Ok(String::new()), |file| read_kept(objects, file));
        let (Ok(old), Ok(new)) = (old, new) else { continue };
        let Some(rest) = left.checked_sub((old.len() + new.len()) as u64) else { break };
        left = rest;
        compare(&old, &new, &mut lines);
    }
    lines
}

fn compare(old: &str, new: &str, lines: &mut Lines) {
    let mut configured = TextDiff::configure();
    let diff = configured.algorithm(Algorithm::Myers).timeout(DIFF_TIME).diff_lines(old, new);
    let mut counts: HashMap<ChangeTag, u64> = HashMap::new();
    for change in diff.iter_all_changes() {
        *counts.entry(change.tag()).or_default() += 1;
    }
    lines.inserted += counts.get(&ChangeTag::Insert).copied().unwrap_or(0);
    lines.deleted += counts.get(&ChangeTag::Delete).copied().unwrap_or(0);
}

fn read_present(place: &Place) -> io::Result<String> {
    let directory = reach::open_directory(&place.dir)?;
    match reach::open_file(&directory, &place.name) {
        Ok(fd) => text(OpenFile::from(fd)),
        Err(error) if error == rustix::io::Errno::NOENT => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

fn read_kept(objects: &Objects, file: &File) -> io::Result<String> {
    match &file.content {
        Content::Kept(digest) => text(objects.read(digest)?),
        Content::Unkept(_) => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Reads a text that is small enough.
fn text(file: OpenFile) -> io::Result<String> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    let fits = text.len() as u64 <= LARGEST && !text.contains('\0');
    if fits { Ok(text) } else { Err(io::ErrorKind::InvalidData.into()) }
}
