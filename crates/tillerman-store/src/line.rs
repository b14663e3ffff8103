//! One line of a transcript file: the entry, the format number and a checksum.

use std::io;

use serde_json::{Map, Value};
use tillerman_protocol::transcript::Entry;

/// The newest format this program reads, and the one it writes.
pub(crate) const FORMAT: u64 = 1;
/// The field that carries the format number in each line of ours.
pub(crate) const FORMAT_FIELD: &str = "tillermanFormat";
/// The field that carries the checksum, always the last one.
pub(crate) const CHECKSUM_FIELD: &str = "crc";

const CHECKSUM_OPEN: &[u8] = br#","crc":""#;
const CHECKSUM_CLOSE: &[u8] = br#""}"#;
const CHECKSUM_DIGITS: usize = 8;

/// What the checksum at the end of a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The line ends in none; other writers know nothing of it.
    Absent,
    /// The line is as it was written.
    Holds,
    /// The line is not as it was written.
    Differs,
}

/// An entry as the bytes of one whole line, newline included.
pub(crate) fn encode(entry: &Entry) -> io::Result<Vec<u8>> {
    let mut line = if carries_own_fields(entry) {
        let mut bare = entry.clone();
        drop_own_fields(&mut bare);
        serde_json::to_vec(&bare)?
    } else {
        serde_json::to_vec(entry)?
    };
    line.pop();
    if line.len() > 1 {
        line.push(b',');
    }
    line.extend_from_slice(format!("\"{FORMAT_FIELD}\":{FORMAT}").as_bytes());
    let checksum = crc32fast::hash(&line);
    line.extend_from_slice(CHECKSUM_OPEN);
    line.extend_from_slice(format!("{checksum:08x}").as_bytes());
    line.extend_from_slice(CHECKSUM_CLOSE);
    line.push(b'\n');
    Ok(line)
}

/// Compares a line, without its newline, with the checksum it ends in.
pub(crate) fn check(line: &[u8]) -> Checksum {
    let Some((body, stated)) = split_checksum(line) else { return Checksum::Absent };
    if crc32fast::hash(body) == stated { Checksum::Holds } else { Checksum::Differs }
}

/// Whether a line whose checksum differs holds the same values as when it was written.
///
/// Programs that read our lines and write them again, such as session stores, escape letters in
/// their own way and pass the checksum on. The values then still serialise to the old bytes.
pub(crate) fn was_only_reencoded(line: &[u8], values: &Map<String, Value>) -> bool {
    let Some((_, stated)) = split_checksum(line) else { return false };
    let mut values = values.clone();
    drop(values.shift_remove(CHECKSUM_FIELD));
    let Ok(mut bytes) = serde_json::to_vec(&values) else { return false };
    bytes.pop();
    crc32fast::hash(&bytes) == stated
}

/// Takes the fields that belong to the line, not to the entry, out of an entry that was read.
pub(crate) fn drop_own_fields(entry: &mut Entry) {
    let extra = match entry {
        Entry::User(entry) => &mut entry.extra,
        Entry::Assistant(entry) => &mut entry.extra,
        Entry::System(entry) => &mut entry.extra,
        Entry::CostState(entry) => &mut entry.extra,
        Entry::Other(fields) => fields,
        _ => return,
    };
    for field in [FORMAT_FIELD, CHECKSUM_FIELD] {
        drop(extra.shift_remove(field));
    }
}

fn carries_own_fields(entry: &Entry) -> bool {
    let extra = match entry {
        Entry::User(entry) => &entry.extra,
        Entry::Assistant(entry) => &entry.extra,
        Entry::System(entry) => &entry.extra,
        Entry::CostState(entry) => &entry.extra,
        Entry::Other(fields) => fields,
        _ => return false,
    };
    extra.contains_key(FORMAT_FIELD) || extra.contains_key(CHECKSUM_FIELD)
}

fn split_checksum(line: &[u8]) -> Option<(&[u8], u32)> {
    let rest = line.strip_suffix(CHECKSUM_CLOSE)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(CHECKSUM_DIGITS)?)?;
    let body = rest.strip_suffix(CHECKSUM_OPEN)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((body, u32::from_str_radix(digits, 16).ok()?))
}
