//! What hosts are told about a changed file.

use serde_json::{Map, Value};

use crate::files::{Hunk, patch};

/// Frames end at 1 MiB; the rest of the line needs room too.
const STRUCTURED_BYTES: usize = 600_000;
const CUT_CHARS: usize = 100_000;
const CUT: [&str; 5] = ["content", "oldString", "newString", "new_source", "old_source"];

/// A file before and after.
#[derive(Debug)]
pub(crate) struct Change {
    /// The content before; nothing when the file is new or was too large to keep.
    pub(crate) original: Option<String>,
    /// The lines that changed; nothing when the file is new.
    pub(crate) hunks: Vec<Hunk>,
}

impl Change {
    /// The creation of a file.
    pub(crate) fn creation() -> Self {
        Self { original: None, hunks: Vec::new() }
    }

    /// The replacement of one content, if it was small enough to keep, by another.
    pub(crate) fn between(old: Option<&[u8]>, new: &[u8]) -> Self {
        let Some(old) = old else { return Self::creation() };
        let old = String::from_utf8_lossy(old);
        let hunks = patch(&old, &String::from_utf8_lossy(new));
        Self { original: Some(old.into_owned()), hunks }
    }

    /// The hunks as hosts know them.
    pub(crate) fn structured_patch(&self) -> Value {
        self.hunks.iter().map(Hunk::to_value).collect()
    }
}

/// The object with its largest parts left out or cut, in order of how well hosts can do without
/// them, until a frame can carry it.
pub(crate) fn bounded(value: Value) -> Value {
    let Value::Object(mut object) = value else { return value };
    let reductions: [fn(&mut Map<String, Value>); 4] = [
        |object| {
            set(object, "originalFile", Value::Null);
            set(object, "original_file", Value::from(""));
        },
        |object| {
            set(object, "structuredPatch", Value::Array(Vec::new()));
            set(object, "updated_file", Value::from(""));
        },
        |object| CUT.iter().for_each(|name| cut(object, name)),
        |object| set(object, "edits", Value::Array(Vec::new())),
    ];
    for reduce in reductions {
        if size(&object) <= STRUCTURED_BYTES {
            break;
        }
        reduce(&mut object);
    }
    Value::Object(object)
}

fn size(object: &Map<String, Value>) -> usize {
    serde_json::to_string(object).map_or(0, |text| text.len())
}

fn set(object: &mut Map<String, Value>, name: &str, value: Value) {
    if let Some(field) = object.get_mut(name) {
        *field = value;
    }
}

fn cut(object: &mut Map<String, Value>, name: &str) {
    if let Some(Value::String(text)) = object.get_mut(name)
        && let Some((end, _)) = text.char_indices().nth(CUT_CHARS)
    {
        text.truncate(end);
    }
}
