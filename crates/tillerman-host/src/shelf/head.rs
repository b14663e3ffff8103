//! A file of the shelf: YAML between two lines of dashes, then text.

use serde_json::Value;

use crate::document::Document;

/// The largest head; it is settings, not a book.
const LARGEST_HEAD: usize = 64 * 1024;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn at(line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }
}

/// A document that was read, with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) body: Value,
}

/// Reads the document that a file holds.
pub(crate) fn read<T: Document + Default>(id: &str, text: &str) -> Result<Read, Trouble> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (head, body) = split(text)?;
    let mut document: T = fields(head)?;
    document.set_id(id.to_owned());
    document.set_source(None);
    if document.name().trim().is_empty() {
        document.set_name(id.to_owned());
    }
    if !body.trim().is_empty() {
        document.set_text(body.trim().to_owned());
    }
    document.check().map_err(|fault| Trouble {
        line: Some(line_of(head, fault.field).unwrap_or(1)),
        message: fault.message,
    })?;
    let name = document.name().to_owned();
    let body = serde_json::to_value(&document)
        .map_err(|error| Trouble::at(1, format!("It cannot be kept: {error}.")))?;
    Ok(Read { name, body })
}

/// The head and what follows it; a file without a head is all text.
fn split(text: &str) -> Result<(&str, &str), Trouble> {
    let opened = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some(rest) = opened else { return Ok(("", text)) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    Err(Trouble::at(1, "The line --- opens a head, and no other such line ends it."))
}

fn fields<T: Document + Default>(head: &str) -> Result<T, Trouble> {
    if head.len() > LARGEST_HEAD {
        return Err(Trouble::at(1, "The head is larger than 64 KiB."));
    }
    let has_fields = head.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if !has_fields {
        return Ok(T::default());
    }
    // References are how a small text becomes a huge one.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_aliases: 0, max_events: 20_000 },
    };
    serde_saphyr::from_str_with_options::<T>(head, options).map_err(|error| {
        // Lines are counted from the opening dashes, which the parser never saw.
        let line = error.location().map(|location| location.line() + 1);
        let reason = error.to_string();
        let reason = reason.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
        Trouble { line: Some(line.unwrap_or(1)), message: format!("The head is wrong: {reason}.") }
    })
}

/// The line of a field, from 1.
fn line_of(head: &str, field: &str) -> Option<u64> {
    let is_field = |line: &str| line.strip_prefix(field).is_some_and(|rest| rest.starts_with(':'));
    head.lines().position(is_field).map(|place| place as u64 + 2)
}

#[cfg(test)]
mod tests;
