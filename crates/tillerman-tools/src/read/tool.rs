//! The read call: from the model's input to numbered lines or a picture.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use image::ImageFormat;
use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::scan::{LINE_CHARS, Scan, scan};
use super::{pdf, picture};
use crate::blocking::off_thread;
use crate::files::{Fingerprint, absolute, check_path, open_regular};
use crate::input::Fields;
use crate::notebook;
use crate::session::Session;

const NAME: &str = "Read";
const DEFAULT_LINES: u64 = 2_000;
const HEAD_BYTES: u64 = 8 * 1024;
const WHOLE_BYTES: u64 = 64 << 20;

const DESCRIPTION: &str = "\
Shows a file: text with a line number and a tab before every line, a picture (PNG, JPEG, GIF, WebP), \
the cells of a Jupyter notebook, or the text of a PDF file. Up to 2000 lines are shown from the \
beginning; lines beyond 2000 characters are cut. For longer files pass offset and limit to read on; \
for notebooks they count cells. For PDF files of more than 10 pages pass pages. Directories cannot \
be read; find files with Glob.";

/// Shows files.
#[derive(Debug)]
pub(crate) struct Read {
    session: Arc<Session>,
}

impl Read {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    file_path: String,
    offset: u64,
    limit: Option<u64>,
    pages: Option<String>,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let file_path = fields.required_text("file_path", "the absolute path of the file")?;
        check_path(NAME, "file_path", file_path)?;
        let limit = fields.optional_whole("limit")?;
        if limit == Some(0) {
            return Err(format!("{NAME}: limit must be at least 1."));
        }
        let pages = fields.optional_text("pages")?.filter(|pages| !pages.trim().is_empty());
        let offset = fields.optional_whole("offset")?.unwrap_or(1).max(1);
        let pages = pages.map(str::to_owned);
        Ok(Self { file_path: file_path.to_owned(), offset, limit, pages })
    }
}

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "Absolute path of the file."},
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "The first line to show, counted from 1.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "How many lines to show; 2000 unless given.",
                    },
                    "pages": {
                        "type": "string",
                        "description": "Pages of a PDF file: \"3\" or \"1-5\", at most 20.",
                    },
                },
                "required": ["file_path"],
                "additionalProperties": false,
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Params::parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let params = Params::parse(&call.input).map_err(ToolFailure::new)?;
            off_thread(call.cancel, move |cancel| read(&session, &params, cancel)).await
        })
    }

    fn count_as_read(&self, path: &Path, at: f64) {
        count_as_read(&self.session, path, at);
    }
}

/// Remembers what a file holds, unless it changed after somebody saw it.
fn count_as_read(session: &Session, path: &Path, at: f64) {
    let Ok(path) = path.canonicalize() else { return };
    let Ok((mut file, metadata)) = open_regular(&path, session.config()) else { return };
    let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    if changed.is_none_or(|changed| changed.as_secs_f64() * 1_000.0 >= at + 1.0) {
        return;
    }
    if Fingerprint::skips(&metadata) {
        return session.remember(path, Fingerprint::of_unread(&metadata));
    }
    let mut bytes = Vec::new();
    if file.read_to_end(&mut bytes).is_ok() {
        session.remember(path, Fingerprint::of(&bytes));
    }
}

/// What the beginning of a file says about the rest.
enum Kind {
    Text,
    Picture(ImageFormat),
    Notebook,
    Pdf,
    Binary,
}

fn read(session: &Session, params: &Params, cancel: &CancellationToken) -> ToolOutcome {
    let path = absolute(&session.config().cwd, &params.file_path);
    let (mut file, metadata) = open_regular(&path, session.config())
        .map_err(|error| ToolFailure::new(error.to_string()))?;
    let broken = |error: io::Error| {
        ToolFailure::new(format!("{} could not be read: {error}.", path.display()))
    };
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(broken)?;
    let (output, fingerprint) = match kind(&path, &head) {
        Kind::Text => {
            let length = params.limit.unwrap_or(DEFAULT_LINES);
            let source = head.as_slice().chain(&mut file);
            let scan = scan(source, params.offset, length, cancel).map_err(broken)?;
            (show_text(&path, params, &scan), scan.fingerprint)
        }
        Kind::Picture(format) => show_picture(&path, format, head, &mut file)?,
        Kind::Notebook => show_notebook(&path, params, &rest(&path, head, &mut file)?)?,
        Kind::Pdf => show_pdf(&path, params, &rest(&path, head, &mut file)?, cancel)?,
        Kind::Binary => {
            return Err(ToolFailure::new(format!(
                "{} holds binary data, not text, so it is not shown. Look at it with Bash: \
                 file, xxd or strings; iconv turns UTF-16 text into readable text.",
                path.display()
            )));
        }
    };
    let seen_as = path.canonicalize().unwrap_or(path);
    let oversized = Fingerprint::skips(&metadata);
    let fingerprint = if oversized { Fingerprint::of_unread(&metadata) } else { fingerprint };
    session.remember(seen_as, fingerprint);
    Ok(output)
}

fn kind(path: &Path, head: &[u8]) -> Kind {
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let named_picture = extension.as_ref().is_none_or(|extension| {
        ["png", "jpg", "jpeg", "gif", "webp"].iter().any(|known| extension == *known)
    });
    if named_picture && let Some(format) = picture::sniff(head) {
        return Kind::Picture(format);
    }
    if extension.is_some_and(|extension| extension == "ipynb") {
        return Kind::Notebook;
    }
    let strange = |byte: &&u8| matches!(byte, 0..=7 | 14..=26 | 28..=31);
    let strange = head.iter().filter(strange).count();
    if head.contains(&0) && strange * 10 > head.len() * 3 { Kind::Binary } else { Kind::Text }
}

fn show_text(path: &Path, params: &Params, scan: &Scan) -> ToolOutput {
    let first = params.offset;
    let numbered =
        scan.lines.iter().zip(first..).map(|(line, number)| format!("{number:>6}\t{line}"));
    let mut parts: Vec<String> = numbered.collect();
    parts.extend(notes(params, scan));
    let mut file = json!({
        "filePath": path.to_string_lossy(),
        "content": scan.lines.join("\n"),
        "numLines": scan.lines.len(),
        "startLine": first,
        "totalLines": scan.total_lines,
    });
    if scan.capped {
        file["truncatedByTokenCap"] = json!(true);
    }
    let structured = json!({"type": "text", "file": file});
    ToolOutput::new(Content::Text(parts.join("\n")), Some(structured))
}

fn notes(params: &Params, scan: &Scan) -> Vec<String> {
    let total = scan.total_lines;
    let next = params.offset + scan.lines.len() as u64;
    let mut notes = Vec::new();
    if total == 0 {
        notes.push("[The file exists but is empty.]".to_owned());
    } else if scan.lines.is_empty() {
        notes.push(format!(
            "[Nothing to show: offset is {}, but the file has only {total} lines.]",
            params.offset
        ));
    } else if next <= total && (scan.capped || params.limit.is_none()) {
        let why = if scan.capped { "the most that one call shows" } else { "the first part" };
        notes.push(format!(
            "[Lines {} to {} of {total}: {why}. Read on with offset {next}.]",
            params.offset,
            next - 1
        ));
    }
    if scan.cut_lines > 0 {
        notes.push(format!(
            "[{} lines were cut after {LINE_CHARS} characters; use Bash, for example cut -c, to see more.]",
            scan.cut_lines
        ));
    }
    if scan.replaced {
        notes.push("[Some bytes are not valid UTF-8 text and are shown as \u{fffd}.]".to_owned());
    }
    notes
}

/// A file that has to be in memory whole.
fn rest(path: &Path, head: Vec<u8>, file: &mut File) -> Result<Vec<u8>, ToolFailure> {
    let mut bytes = head;
    let read = file.take(WHOLE_BYTES).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > WHOLE_BYTES => Err(ToolFailure::new(format!(
            "{} is larger than {} MiB, too large to be shown.",
            path.display(),
            WHOLE_BYTES >> 20
        ))),
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(ToolFailure::new(format!("{} could not be read: {error}.", path.display())))
        }
    }
}

fn show_notebook(
    path: &Path,
    params: &Params,
    bytes: &[u8],
) -> Result<(ToolOutput, Fingerprint), ToolFailure> {
    let shown = notebook::show(&String::from_utf8_lossy(bytes), params.offset, params.limit)
        .map_err(|error| {
            ToolFailure::new(format!(
                "The notebook {} cannot be shown: {error}. Look at its text with Bash.",
                path.display()
            ))
        })?;
    let structured = json!({
        "type": "notebook",
        "file": {"filePath": path.to_string_lossy(), "cells": shown.cells},
    });
    let output = ToolOutput::new(Content::Blocks(shown.blocks), Some(structured));
    Ok((output, Fingerprint::of(bytes)))
}

fn show_pdf(
    path: &Path,
    params: &Params,
    bytes: &[u8],
    cancel: &CancellationToken,
) -> Result<(ToolOutput, Fingerprint), ToolFailure> {
    let shown = pdf::show(bytes, params.pages.as_deref(), cancel).map_err(|error| {
        ToolFailure::new(format!("The PDF file {} cannot be shown: {error}.", path.display()))
    })?;
    let lines = shown.text.lines().count();
    let structured = json!({
        "type": "text",
        "file": {
            "filePath": path.to_string_lossy(),
            "content": shown.text,
            "numLines": lines,
            "startLine": 1,
            "totalLines": lines,
        },
    });
    let output = ToolOutput::new(Content::Text(shown.text), Some(structured));
    Ok((output, Fingerprint::of(bytes)))
}

fn show_picture(
    path: &Path,
    format: ImageFormat,
    head: Vec<u8>,
    file: &mut File,
) -> Result<(ToolOutput, Fingerprint), ToolFailure> {
    let fail = |why: String| {
        ToolFailure::new(format!("The picture {} cannot be shown: {why}.", path.display()))
    };
    let bytes = rest(path, head, file)?;
    let picture = picture::prepare(&bytes, format).map_err(|error| fail(error.to_string()))?;
    let source =
        json!({"type": "base64", "media_type": picture.media_type, "data": picture.base64});
    let mut blocks = vec![Block::Image { source }];
    if picture.original != picture.shown {
        let ((width, height), (shown_width, shown_height)) = (picture.original, picture.shown);
        blocks.push(Block::text(format!(
            "[The picture has {width}x{height} pixels and is shown with {shown_width}x{shown_height}.]"
        )));
    }
    let structured = json!({
        "type": "image",
        "file": {
            "base64": picture.base64,
            "type": picture.media_type,
            "originalSize": bytes.len(),
            "dimensions": {
                "originalWidth": picture.original.0,
                "originalHeight": picture.original.1,
                "displayWidth": picture.shown.0,
                "displayHeight": picture.shown.1,
            },
        },
    });
    let output = ToolOutput::new(Content::Blocks(blocks), Some(structured));
    Ok((output, Fingerprint::of(&bytes)))
}
