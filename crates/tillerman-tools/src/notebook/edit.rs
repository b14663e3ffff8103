//! The tool that changes cells of notebooks.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::document::{Document, cell_id, joined};
use crate::blocking::{interrupted, off_thread};
use crate::files::{
    Fingerprint, absolute, bounded, check_path, load, open_regular, replace, resolve_target,
};
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "NotebookEdit";
const EDITED_BYTES: usize = 100 << 20;
const MODES: [&str; 3] = ["replace", "insert", "delete"];

const DESCRIPTION: &str = "\
Changes one cell of a Jupyter notebook that was read before in this session: replace gives the cell \
new_source, insert adds a cell behind the cell with cell_id (at the beginning without one), delete \
removes the cell. Outputs of a replaced code cell are removed; everything else stays as it is.";

/// Changes cells of notebooks.
#[derive(Debug)]
pub(crate) struct NotebookEdit {
    session: Arc<Session>,
}

impl NotebookEdit {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Replace,
    Insert,
    Delete,
}

struct Params {
    notebook_path: String,
    cell_id: Option<String>,
    new_source: String,
    cell_type: Option<String>,
    mode: Mode,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let path = fields.required_text("notebook_path", "the absolute path of the notebook")?;
        check_path(NAME, "notebook_path", path)?;
        let mode = match fields.optional_choice("edit_mode", &MODES)? {
            Some("insert") => Mode::Insert,
            Some("delete") => Mode::Delete,
            _ => Mode::Replace,
        };
        let cell_type = fields.optional_choice("cell_type", &["code", "markdown"])?;
        if mode == Mode::Insert && cell_type.is_none() {
            return Err(fields.fault("cell_type is required to insert: code or markdown."));
        }
        let cell_id = match mode {
            Mode::Insert => fields.optional_text("cell_id")?,
            Mode::Replace | Mode::Delete => {
                Some(fields.required_text("cell_id", "the id of the cell, as Read shows it")?)
            }
        };
        let new_source = match mode {
            Mode::Delete => fields.optional_text("new_source")?.unwrap_or_default(),
            Mode::Replace | Mode::Insert => {
                fields.required_text("new_source", "the new source of the cell")?
            }
        };
        Ok(Self {
            notebook_path: path.to_owned(),
            cell_id: cell_id.map(str::to_owned),
            new_source: new_source.to_owned(),
            cell_type: cell_type.map(str::to_owned),
            mode,
        })
    }
}

impl Tool for NotebookEdit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "notebook_path": {"type": "string", "description": "Absolute path of the notebook."},
                    "cell_id": {"type": "string", "description": "The id of the cell, as Read shows it."},
                    "new_source": {"type": "string", "description": "The new source of the cell."},
                    "cell_type": {
                        "type": "string",
                        "enum": ["code", "markdown"],
                        "description": "The kind of cell; as it was unless given, required to insert.",
                    },
                    "edit_mode": {
                        "type": "string",
                        "enum": MODES,
                        "default": "replace",
                        "description": "What to do with the cell.",
                    },
                },
                "required": ["notebook_path", "new_source"],
                "additionalProperties": false,
            }),
            access: Access::Mutating,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Params::parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let params = Params::parse(&call.input).map_err(ToolFailure::new)?;
            off_thread(call.cancel, move |cancel| edit(&session, &params, cancel)).await
        })
    }
}

fn edit(session: &Session, params: &Params, cancel: &CancellationToken) -> ToolOutcome {
    let cwd = &session.config().cwd;
    let path = absolute(cwd, &params.notebook_path);
    let fail = |error: &dyn std::fmt::Display| cannot_edit(&path, error);
    let target = resolve_target(&path).map_err(|error| fail(&error))?;
    let (file, metadata) = open_regular(&target, session.config())
        .map_err(|error| ToolFailure::new(error.to_string()))?;
    let stored = load(file, &metadata, EDITED_BYTES, cancel).map_err(|error| fail(&error))?;
    match session.last_seen(&target) {
        Some(seen) if seen == stored.fingerprint => {}
        Some(_) => return Err(fail(&"it changed on disk since it was last read; read it again")),
        None => return Err(fail(&"it was not read in this session; read it first")),
    }
    let bytes = stored.bytes.ok_or_else(|| fail(&"it is larger than 100 MiB"))?;
    let text = String::from_utf8(bytes).map_err(|_| fail(&"it is not UTF-8 text"))?;
    let document = Document::parse(&text).map_err(|error| fail(&error))?;
    let changed = change(&document, params).map_err(|why| fail(&why))?;
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    replace(&target, changed.text.as_bytes(), session.config()).map_err(|error| fail(&error))?;
    session.remember(target, Fingerprint::of(changed.text.as_bytes()));
    let told = format!("Cell {} of {} was {}.", changed.cell_id, path.display(), changed.verb);
    let mut structured = json!({
        "new_source": params.new_source,
        "cell_id": changed.cell_id,
        "cell_type": changed.cell_type,
        "language": document.language,
        "edit_mode": MODES[params.mode as usize],
        "error": "",
        "notebook_path": path.to_string_lossy(),
        "original_file": text,
        "updated_file": changed.text,
    });
    if let Some(old_source) = changed.old_source {
        structured["old_source"] = Value::from(old_source);
    }
    Ok(ToolOutput::new(Content::Text(told), Some(bounded(structured))))
}

/// A notebook with one cell changed.
struct Changed {
    text: String,
    cell_id: String,
    cell_type: String,
    old_source: Option<String>,
    verb: &'static str,
}

fn change(document: &Document<'_>, params: &Params) -> Result<Changed, String> {
    let found = params.cell_id.as_deref().map(|id| find(document, id)).transpose()?;
    if params.mode == Mode::Insert {
        return Ok(insert(document, params, found.map_or(0, |(index, _)| index + 1)));
    }
    let (index, mut cell) = found.ok_or("cell_id is missing")?;
    let id = cell_id(&cell, index);
    let old_source = Some(joined(cell.get("source")));
    let kind = |cell: &Map<String, Value>| {
        cell.get("cell_type").and_then(Value::as_str).unwrap_or("code").to_owned()
    };
    if params.mode == Mode::Delete {
        let text = document.with_deleted(index);
        let cell_type = kind(&cell);
        return Ok(Changed { text, cell_id: id, cell_type, old_source, verb: "deleted" });
    }
    let as_lines = !matches!(cell.get("source"), Some(Value::String(_)));
    let cell_type = params.cell_type.clone().unwrap_or_else(|| kind(&cell));
    cell.insert("cell_type".to_owned(), Value::from(cell_type.clone()));
    if cell_type == "code" {
        cell.insert("execution_count".to_owned(), Value::Null);
        cell.insert("outputs".to_owned(), json!([]));
    } else {
        cell.shift_remove("execution_count");
        cell.shift_remove("outputs");
    }
    cell.insert("source".to_owned(), source(&params.new_source, as_lines));
    let text = document.with_replaced(index, &cell);
    Ok(Changed { text, cell_id: id, cell_type, old_source, verb: "replaced" })
}

fn insert(document: &Document<'_>, params: &Params, index: usize) -> Changed {
    let cell_type = params.cell_type.clone().unwrap_or_default();
    let mut cell = Map::new();
    cell.insert("cell_type".to_owned(), Value::from(cell_type.clone()));
    if cell_type == "code" {
        cell.insert("execution_count".to_owned(), Value::Null);
    }
    if document.has_ids {
        cell.insert("id".to_owned(), Value::from(new_id()));
    }
    cell.insert("metadata".to_owned(), json!({}));
    if cell_type == "code" {
        cell.insert("outputs".to_owned(), json!([]));
    }
    cell.insert("source".to_owned(), source(&params.new_source, true));
    let text = document.with_inserted(index, &cell);
    let id = cell_id(&cell, index);
    Changed { text, cell_id: id, cell_type, old_source: None, verb: "inserted" }
}

fn find(document: &Document<'_>, id: &str) -> Result<(usize, Map<String, Value>), String> {
    for index in 0..document.len() {
        let cell = document.cell(index).map_err(|error| error.to_string())?;
        if cell_id(&cell, index) == id {
            return Ok((index, cell));
        }
    }
    // Numbers work for notebooks with ids as well.
    let index = id.strip_prefix("cell-").and_then(|number| number.parse::<usize>().ok());
    match index.filter(|index| *index < document.len()) {
        Some(index) => Ok((index, document.cell(index).map_err(|error| error.to_string())?)),
        None => Err(format!("it has no cell {id}; Read shows the ids of its cells")),
    }
}

/// A source as the notebook holds sources: one text or lines with their ends.
fn source(text: &str, as_lines: bool) -> Value {
    if !as_lines {
        return Value::from(text);
    }
    text.split_inclusive('\n').map(Value::from).collect()
}

fn new_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("{:08x}", RandomState::new().hash_one(std::process::id()) as u32)
}

fn cannot_edit(path: &Path, error: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("{} was not changed: {error}.", path.display()))
}
