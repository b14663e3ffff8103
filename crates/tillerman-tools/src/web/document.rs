//! From what a server sent to a text a model can read.

use encoding_rs::{Encoding, UTF_8};

use super::fetch::Body;
use super::markup;

/// Where the declaration of a page's encoding must stand.
const DECLARATION_BYTES: usize = 1024;

/// The content is of a kind that cannot be shown as text.
#[derive(Debug, thiserror::Error)]
#[error("its content is {kind}, which cannot be shown as text")]
pub(super) struct NotText {
    kind: String,
}

enum Kind {
    Html,
    Plain,
}

/// The text of a page: HTML as Markdown, text and data as they are.
pub(super) fn text_of(body: &Body) -> Result<String, NotText> {
    match kind(body)? {
        Kind::Html => Ok(markup::to_markdown(&decode(body), &body.url)),
        Kind::Plain => Ok(decode(body)),
    }
}

fn kind(body: &Body) -> Result<Kind, NotText> {
    let media_type = body.content_type.split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let html = matches!(media_type.as_str(), "text/html" | "application/xhtml+xml");
    let plain = media_type.starts_with("text/")
        || ["+json", "+xml", "+yaml"].iter().any(|suffix| media_type.ends_with(suffix))
        || matches!(
            media_type.as_str(),
            "application/json"
                | "application/ld+json"
                | "application/x-ndjson"
                | "application/xml"
                | "application/javascript"
                | "application/x-javascript"
                | "application/ecmascript"
                | "application/typescript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/sql"
                | "application/x-sh"
        );
    if html {
        return Ok(Kind::Html);
    }
    if plain {
        return Ok(Kind::Plain);
    }
    if media_type.is_empty() && std::str::from_utf8(&body.bytes).is_ok() && !body.bytes.contains(&0)
    {
        let start = body.bytes[..body.bytes.len().min(200)].trim_ascii_start().to_ascii_lowercase();
        let html = start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
        return Ok(if html { Kind::Html } else { Kind::Plain });
    }
    let kind = if media_type.is_empty() { "of an unknown type".to_owned() } else { media_type };
    Err(NotText { kind })
}

fn decode(body: &Body) -> String {
    let label = charset(&body.content_type).or_else(|| {
        let head = &body.bytes[..body.bytes.len().min(DECLARATION_BYTES)];
        charset(&String::from_utf8_lossy(head))
    });
    let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(&body.bytes).0.replace('\0', "\u{fffd}")
}

/// The encoding a header or the beginning of a page declares.
fn charset(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (_, rest) = lower.split_once("charset=")?;
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    let end = rest.find(|char: char| !(char.is_ascii_alphanumeric() || "-_:.".contains(char)));
    let label = &rest[..end.unwrap_or(rest.len())];
    (!label.is_empty()).then(|| label.to_owned())
}
