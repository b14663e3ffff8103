//! The YAML at the head of a Markdown file.

use std::path::Path;

use serde_json::{Map, Value};

use crate::extensions::problem::Problem;

/// What stands at the head of a file may not be larger than this.
const LARGEST_HEAD: usize = 64 << 10;

/// A Markdown file, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Document {
    pub(crate) fields: Map<String, Value>,
    pub(crate) body: String,
}

/// Takes a file apart. One without a head is all body.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Document, Problem> {
    let Some((head, body)) = split(text) else {
        if text.starts_with("---\n") || text.starts_with("---\r\n") {
            return Err(Problem::at(path, Some(1), "the line --- opens a head that nothing ends"));
        }
        return Ok(Document { fields: Map::new(), body: text.trim().to_owned() });
    };
    if head.len() > LARGEST_HEAD {
        return Err(Problem::at(path, Some(1), "the head is larger than 64 KiB"));
    }
    let fields = fields(path, head)?;
    Ok(Document { fields, body: body.trim().to_owned() })
}

fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn fields(path: &Path, head: &str) -> Result<Map<String, Value>, Problem> {
    if head.trim().is_empty() {
        return Ok(Map::new());
    }
    let read = read_yaml(head).or_else(|error| {
        // People write colons and brackets into descriptions; as plain text they are no riddle.
        read_yaml(&quote_values(head)).map_err(|_| error)
    });
    match read {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(Problem::at(path, Some(2), "the head is not a list of `name: value` lines")),
        // Lines are counted from the opening ---, which the parser never saw.
        Err((line, reason)) => {
            let reason = format!("the head is not valid YAML: {reason}");
            Err(Problem::at(path, line.map(|line| line + 1), reason))
        }
    }
}

fn read_yaml(text: &str) -> Result<Value, (Option<usize>, String)> {
    // Heads repeat nothing, and references are how a small text becomes a huge one.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_aliases: 0, max_events: 20_000 },
    };
    serde_saphyr::from_str_with_options::<Value>(text, options).map_err(|error| {
        let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
        let reason = error.to_string();
        (line, reason.lines().next().unwrap_or_default().to_owned())
    })
}

/// The same lines with every simple value of the outermost level in quotes.
fn quote_values(head: &str) -> String {
    let quoted = head.lines().map(|line| match line.split_once(": ") {
        Some((name, value)) if is_name(name) && is_plain(value) => {
            format!("{name}: {}", Value::String(value.trim().to_owned()))
        }
        _ => line.to_owned(),
    });
    quoted.collect::<Vec<_>>().join("\n")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || "-_".contains(it))
}

fn is_plain(value: &str) -> bool {
    let value = value.trim();
    !(value.is_empty() || value.starts_with(['"', '\'', '|', '>', '{', '&', '*']))
}

/// A text; numbers, truth values and lists are told as they would be written.
pub(crate) fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::Null | Value::Object(_) => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(written).collect();
            Some(format!("[{}]", texts.join(", ")))
        }
        other => Some(other.to_string()),
    }
}

/// A list, or a text whose parts stand between commas that no bracket holds.
pub(crate) fn list(fields: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    match fields.get(name)? {
        Value::Array(items) => Some(items.iter().map(written).collect()),
        Value::String(text) => Some(split_list(text)),
        _ => None,
    }
}

fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Splits at commas and, where there are none, at spaces; never inside of brackets.
fn split_list(text: &str) -> Vec<String> {
    let has_commas = top_level(text).any(|(_, it)| it == ',');
    let separates = |it: char| it == ',' || (!has_commas && it.is_whitespace());
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, it) in top_level(text) {
        if separates(it) {
            parts.push(&text[from..at]);
            from = at + it.len_utf8();
        }
    }
    parts.push(&text[from..]);
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn top_level(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut depth = 0usize;
    text.char_indices().filter(move |(_, it)| {
        match it {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// A truth value, in any of the words people use for one.
pub(crate) fn flag(fields: &Map<String, Value>, name: &str) -> Option<bool> {
    match fields.get(name)? {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_i64() != Some(0)),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
