//! Showing a notebook: its cells in order, with their outputs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tillerman_protocol::content::Block;

use super::document::{Document, ParseNotebookError, cell_id, joined};
use crate::read::picture;

/// About 25,000 tokens.
const SHOWN_BYTES: usize = 100_000;
const OUTPUT_CHARS: usize = 10_000;
/// All outputs of one cell together.
const OUTPUTS_CHARS: usize = 60_000;
/// All pictures of one answer together; frames end at 1 MiB.
const PICTURE_CHARS: usize = 500_000;

/// The shown part of a notebook.
#[derive(Debug)]
pub(crate) struct ShownNotebook {
    /// What the model sees.
    pub(crate) blocks: Vec<Block>,
    /// What hosts see.
    pub(crate) cells: Vec<Value>,
}

/// Shows up to `count` cells from cell `first` on, counted from 1, as far as they fit.
pub(crate) fn show(
    text: &str,
    first: u64,
    count: Option<u64>,
) -> Result<ShownNotebook, ParseNotebookError> {
    let document = Document::parse(text)?;
    let start = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let wanted = count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let end = document.len().min(start.saturating_add(wanted));
    let mut page = Page::default();
    let mut next = start;
    while next < end {
        let cell = document.cell(next)?;
        if !page.add(&cell, next, &document.language) {
            break;
        }
        next += 1;
    }
    if document.len() == 0 {
        page.text.push_str("[The notebook has no cells.]");
    } else if page.cells.is_empty() {
        page.text.push_str(&format!(
            "[Nothing to show: offset is {first}, but the notebook has only {} cells.]",
            document.len()
        ));
    } else if next < end || (next < document.len() && count.is_none()) {
        page.text.push_str(&format!(
            "[Cells {first} to {next} of {}: the most that one call shows. Read on with offset {}.]",
            document.len(),
            next + 1
        ));
    }
    page.end_text();
    Ok(ShownNotebook { blocks: page.blocks, cells: page.cells })
}

#[derive(Default)]
struct Page {
    blocks: Vec<Block>,
    text: String,
    cells: Vec<Value>,
    spent: usize,
    pictures: usize,
}

impl Page {
    /// Adds a cell, unless there is no room left for it.
    fn add(&mut self, cell: &Map<String, Value>, index: usize, language: &str) -> bool {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("code");
        let source = joined(cell.get("source"));
        let outputs = cell.get("outputs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let outputs = read_outputs(outputs);
        let cost = source.len() + outputs.iter().map(|output| output.text.len()).sum::<usize>();
        if !self.cells.is_empty() && self.spent + cost > SHOWN_BYTES {
            return false;
        }
        self.spent += cost;
        let id = cell_id(cell, index);
        self.text.push_str(&format!("[Cell {}, {kind}, id {id}]\n", index + 1));
        let shown = cut(&source, SHOWN_BYTES);
        self.text.push_str(shown.trim_end_matches('\n'));
        self.text.push('\n');
        for output in &outputs {
            self.add_output(output);
        }
        self.text.push('\n');
        let mut described = json!({"cellType": kind, "source": shown, "cell_id": id});
        if kind == "code" {
            described["language"] = Value::from(language);
            described["execution_count"] = cell.get("execution_count").cloned().unwrap_or_default();
            described["outputs"] = outputs.iter().map(Output::describe).collect();
        }
        self.cells.push(described);
        true
    }

    fn add_output(&mut self, output: &Output) {
        if !output.text.trim().is_empty() {
            self.text.push_str(&format!("[Output]\n{}\n", output.text.trim_end()));
        }
        let Some(encoded) = &output.picture else { return };
        let clean: String = encoded.split_whitespace().collect();
        let picture = STANDARD.decode(clean).ok().and_then(|bytes| {
            let format = picture::sniff(&bytes)?;
            picture::prepare(&bytes, format).ok()
        });
        let room = PICTURE_CHARS - self.pictures;
        match picture {
            Some(picture) if picture.base64.len() <= room => {
                self.pictures += picture.base64.len();
                self.text.push_str("[Output: a picture]\n");
                self.end_text();
                let (media_type, data) = (picture.media_type, picture.base64);
                let source = json!({"type": "base64", "media_type": media_type, "data": data});
                self.blocks.push(Block::Image { source });
            }
            Some(_) => {
                self.text.push_str("[Output: a picture, left out because there is no room]\n");
            }
            None => self.text.push_str("[Output: a picture that cannot be shown]\n"),
        }
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.blocks.push(Block::text(text.trim_end()));
        }
    }
}

/// One output of a code cell.
struct Output {
    kind: String,
    text: String,
    picture: Option<String>,
}

impl Output {
    fn read(output: &Value) -> Self {
        let kind = output.get("output_type").and_then(Value::as_str).unwrap_or_default();
        let of_data = |name: &str| output.get("data").and_then(|data| data.get(name));
        let text = match kind {
            "stream" => joined(output.get("text")),
            "error" => error_text(output),
            _ => joined(of_data("text/plain")),
        };
        let picture = ["image/png", "image/jpeg"].iter().find_map(|name| of_data(name));
        let picture = picture.map(|picture| joined(Some(picture)));
        let kind = kind.to_owned();
        Self { kind, text: cut(&without_colors(&text), OUTPUT_CHARS), picture }
    }

    fn describe(&self) -> Value {
        json!({"output_type": self.kind, "text": self.text, "hasImage": self.picture.is_some()})
    }
}

/// The outputs of a cell, as far as they fit.
fn read_outputs(outputs: &[Value]) -> Vec<Output> {
    let mut room = OUTPUTS_CHARS;
    let mut shown = Vec::new();
    for output in outputs.iter().map(Output::read) {
        match room.checked_sub(output.text.len() + 100) {
            Some(left) => room = left,
            None => {
                let text = format!("[{} more outputs are left out]", outputs.len() - shown.len());
                shown.push(Output { kind: "stream".to_owned(), text, picture: None });
                break;
            }
        }
        shown.push(output);
    }
    shown
}

fn error_text(output: &Value) -> String {
    let part = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
    let trace = output.get("traceback").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let trace: Vec<&str> = trace.iter().filter_map(Value::as_str).collect();
    format!("{}: {}\n{}", part("ename"), part("evalue"), trace.join("\n"))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n[cut here, {} more bytes]", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

/// The text without the sequences that color it in terminals.
fn without_colors(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.trim_start_matches(|char: char| char.is_ascii_digit() || char == ';');
        rest = rest.strip_prefix(|char: char| char.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}
