//! A notebook as text with known places, so that a changed cell leaves every other byte as it was.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Why a text is no notebook.
#[derive(Debug, thiserror::Error)]
#[error("it is not a notebook this program understands: {0}")]
pub(crate) struct ParseNotebookError(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    cells: &'a RawValue,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    nbformat: u64,
    #[serde(default)]
    nbformat_minor: u64,
}

/// A notebook's text and where its cells are.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    list: Range<usize>,
    cells: Vec<Range<usize>>,
    /// The language of code cells.
    pub(crate) language: String,
    /// Whether cells have ids of their own.
    pub(crate) has_ids: bool,
}

impl<'a> Document<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, ParseNotebookError> {
        let outline: Outline<'a> = serde_json::from_str(text)?;
        let cells: Vec<&'a RawValue> = serde_json::from_str(outline.cells.get())?;
        let place = |raw: &str| {
            let start = raw.as_ptr() as usize - text.as_ptr() as usize;
            start..start + raw.len()
        };
        let language = ["/language_info/name", "/kernelspec/language"]
            .iter()
            .find_map(|pointer| outline.metadata.pointer(pointer)?.as_str())
            .unwrap_or("python");
        Ok(Self {
            text,
            list: place(outline.cells.get()),
            cells: cells.iter().map(|cell| place(cell.get())).collect(),
            language: language.to_owned(),
            has_ids: (outline.nbformat, outline.nbformat_minor) >= (4, 5),
        })
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell's content.
    pub(crate) fn cell(&self, index: usize) -> Result<Map<String, Value>, ParseNotebookError> {
        let text = self.cells.get(index).map_or("{}", |place| &self.text[place.clone()]);
        Ok(serde_json::from_str(text)?)
    }

    /// The text with one cell replaced.
    pub(crate) fn with_replaced(&self, index: usize, cell: &Map<String, Value>) -> String {
        let place = self.cells[index].clone();
        self.spliced(place, &self.written(cell))
    }

    /// The text with a further cell, which will have the given index.
    pub(crate) fn with_inserted(&self, index: usize, cell: &Map<String, Value>) -> String {
        let cell = self.written(cell);
        let (line, _) = self.layout();
        if self.cells.is_empty() {
            let (inner, outer) = if line.is_empty() {
                (String::new(), String::new())
            } else {
                (line.clone(), format!("\n{}", &line[1..][..(line.len() - 1) / 2]))
            };
            return self.spliced(self.list.clone(), &format!("[{inner}{cell}{outer}]"));
        }
        match index.checked_sub(1) {
            None => {
                let start = self.cells[0].start;
                self.spliced(start..start, &format!("{cell},{line}"))
            }
            Some(previous) => {
                let end = self.cells[previous].end;
                self.spliced(end..end, &format!(",{line}{cell}"))
            }
        }
    }

    /// The text without one cell.
    pub(crate) fn with_deleted(&self, index: usize) -> String {
        let place = match (index.checked_sub(1), self.cells.get(index + 1)) {
            (_, Some(next)) => self.cells[index].start..next.start,
            (Some(previous), None) => self.cells[previous].end..self.cells[index].end,
            (None, None) => return self.spliced(self.list.clone(), "[]"),
        };
        self.spliced(place, "")
    }

    fn spliced(&self, place: Range<usize>, with: &str) -> String {
        [&self.text[..place.start], with, &self.text[place.end..]].concat()
    }

    /// A cell in the notebook's own layout.
    fn written(&self, cell: &Map<String, Value>) -> String {
        let (line, step) = self.layout();
        if line.is_empty() {
            return serde_json::to_string(cell).unwrap_or_default();
        }
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(step.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        if serde::Serialize::serialize(cell, &mut serializer).is_err() {
            return serde_json::to_string(cell).unwrap_or_default();
        }
        // Inside of JSON texts line ends are escaped, so every one found here is layout.
        String::from_utf8_lossy(&bytes).replace('\n', &line)
    }

    /// What comes between two cells beside the comma, and one step of indentation. Nothing when
    /// the notebook is written on one line.
    fn layout(&self) -> (String, String) {
        let first = self.cells.first().map_or(self.list.end - 1, |cell| cell.start);
        let before = &self.text[self.list.start + 1..first];
        let Some((_, indent)) = before.rsplit_once('\n') else {
            let on_one_line = !self.cells.is_empty() || !self.text.contains('\n');
            let usual = if on_one_line { "" } else { "\n  " };
            return (usual.to_owned(), " ".to_owned());
        };
        (format!("\n{indent}"), indent[..indent.len() / 2].to_owned())
    }
}

/// A cell's source as one text; files hold it as one text or as a list of lines.
pub(crate) fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// The id a cell goes by: its own, or its number for notebooks without ids.
pub(crate) fn cell_id(cell: &Map<String, Value>, index: usize) -> String {
    cell.get("id").and_then(Value::as_str).map_or_else(|| format!("cell-{index}"), str::to_owned)
}
