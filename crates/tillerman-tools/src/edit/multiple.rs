//! Several replacements in one file: all of them, or none.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::replacement::Replacement;
use super::subject::Subject;
use super::tool::told;
use crate::blocking::{interrupted, off_thread};
use crate::files::{Change, bounded, check_path};
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "MultiEdit";
const MOST_EDITS: usize = 500;

const DESCRIPTION: &str = "\
Makes several replacements in one file. They are made in order, each in the result of those before \
it, under the rules of Edit. When one of them cannot be made the file stays as it is.";

/// Makes several replacements in a file.
#[derive(Debug)]
pub(crate) struct MultiEdit {
    session: Arc<Session>,
}

impl MultiEdit {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    file_path: String,
    edits: Vec<Replacement>,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let file_path = fields.required_text("file_path", "the absolute path of the file")?;
        check_path(NAME, "file_path", file_path)?;
        let edits = fields.required_items("edits", "the replacements in order")?;
        if !(1..=MOST_EDITS).contains(&edits.len()) {
            return Err(fields.fault(&format!("edits must hold 1 to {MOST_EDITS} replacements.")));
        }
        let edits = edits.iter().map(Replacement::parse).collect::<Result<_, _>>()?;
        Ok(Self { file_path: file_path.to_owned(), edits })
    }
}

impl Tool for MultiEdit {
    fn spec(&self) -> ToolSpec {
        let edit = json!({
            "type": "object",
            "properties": {
                "old_string": {"type": "string", "description": "The exact text to replace."},
                "new_string": {"type": "string", "description": "The text that takes its place."},
                "replace_all": {
                    "type": "boolean",
                    "description": "Replace every occurrence instead of the only one.",
                    "default": false,
                },
            },
            "required": ["old_string", "new_string"],
            "additionalProperties": false,
        });
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "Absolute path of the file."},
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "items": edit,
                        "description": "The replacements in order.",
                    },
                },
                "required": ["file_path", "edits"],
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
    let subject = Subject::open(session, &params.file_path, cancel)?;
    let mut content: Option<Vec<u8>> = None;
    for (index, replacement) in params.edits.iter().enumerate() {
        let next = replacement.apply(&subject, content.as_deref()).map_err(|why| {
            let (number, count) = (index + 1, params.edits.len());
            ToolFailure::new(format!("Replacement {number} of {count} cannot be made: {why}"))
        })?;
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        content = Some(next);
    }
    let content = content.unwrap_or_default();
    let change = match subject.bytes() {
        Some(bytes) => Change::between(Some(bytes), &content),
        None => Change::creation(),
    };
    subject.write(session, &content)?;
    let edits: Vec<Value> = params.edits.iter().map(described).collect();
    let structured = bounded(json!({
        "filePath": subject.path.to_string_lossy(),
        "originalFile": change.original,
        "structuredPatch": change.structured_patch(),
        "userModified": false,
        "edits": edits,
    }));
    Ok(ToolOutput::new(Content::Text(told(&subject.path, &change)), Some(structured)))
}

fn described(edit: &Replacement) -> Value {
    json!({
        "old_string": edit.old_string,
        "new_string": edit.new_string,
        "replace_all": edit.replace_all,
    })
}
