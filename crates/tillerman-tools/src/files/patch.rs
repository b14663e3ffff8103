//! Changes of files as hunks with three lines of context.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

const CONTEXT: usize = 3;
/// Beyond this the hunks are coarser, but still right.
const DIFF_TIME: Duration = Duration::from_secs(1);
/// Texts beyond this are not compared at all.
const DIFF_BYTES: usize = 8 << 20;
const SNIPPET_LINES: usize = 40;

/// A run of changed lines with their surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    lines: Vec<String>,
}

impl Hunk {
    /// The hunk as hosts know it.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "oldStart": self.old_start,
            "oldLines": self.old_lines,
            "newStart": self.new_start,
            "newLines": self.new_lines,
            "lines": self.lines,
        })
    }
}

/// The hunks that lead from one text to the other; none when a text is too large to compare.
pub(crate) fn patch(old: &str, new: &str) -> Vec<Hunk> {
    if old.len().max(new.len()) > DIFF_BYTES {
        return Vec::new();
    }
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    let groups = diff.grouped_ops(CONTEXT);
    groups
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let lines = group.iter().flat_map(|op| diff.iter_changes(op)).flat_map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let text = change.value().trim_end_matches(['\n', '\r']);
                let end = change.missing_newline().then(|| "\\ No newline at end of file".into());
                std::iter::once(format!("{sign}{text}")).chain(end)
            });
            Some(Hunk {
                old_start: first.old_range().start + 1,
                old_lines: last.old_range().end - first.old_range().start,
                new_start: first.new_range().start + 1,
                new_lines: last.new_range().end - first.new_range().start,
                lines: lines.collect(),
            })
        })
        .collect()
}

/// The changed places as they are now, with line numbers.
pub(crate) fn snippet(hunks: &[Hunk]) -> String {
    let mut shown = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        if index > 0 {
            shown.push("   ...".to_owned());
        }
        let present = hunk.lines.iter().filter(|line| line.starts_with([' ', '+']));
        for (offset, line) in present.enumerate() {
            if shown.len() >= SNIPPET_LINES {
                shown.push("   ... (more changes follow)".to_owned());
                return shown.join("\n");
            }
            let text: String = line.chars().skip(1).take(500).collect();
            shown.push(format!("{:>6}\t{text}", hunk.new_start + offset));
        }
    }
    shown.join("\n")
}
