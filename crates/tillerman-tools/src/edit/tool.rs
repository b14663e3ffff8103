//! The edit call: from the model's input to the changed file.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::replacement::Replacement;
use super::subject::Subject;
use crate::blocking::{interrupted, off_thread};
use crate::files::{Change, bounded, check_path, snippet};
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "Edit";

const DESCRIPTION: &str = "\
Replaces text in a file. old_string must occur exactly once, \
character for character, without the line numbers Read adds; take in neighbouring lines to make it \
unique, or set replace_all to replace every occurrence. The file's line endings are kept. \
An empty old_string puts new_string into a new or empty file.";

/// Changes parts of files.
#[derive(Debug)]
pub(crate) struct Edit {
    session: Arc<Session>,
}

impl Edit {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    file_path: String,
    replacement: Replacement,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let file_path = fields.required_text("file_path", "the absolute path of the file")?;
        check_path(NAME, "file_path", file_path)?;
        let replacement = Replacement::parse(&fields)?;
        Ok(Self { file_path: file_path.to_owned(), replacement })
    }
}

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "Absolute path of the file."},
                    "old_string": {"type": "string", "description": "The exact text to replace."},
                    "new_string": {
                        "type": "string",
                        "description": "The text that takes its place; differs from old_string.",
                    },
                    "replace_all": {
                        "type": "boolean",
                        "description": "Replace every occurrence instead of the only one.",
                        "default": false,
                    },
                },
                "required": ["file_path", "old_string", "new_string"],
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
    let content = params.replacement.apply(&subject, None).map_err(ToolFailure::new)?;
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let change = match subject.bytes() {
        Some(bytes) => Change::between(Some(bytes), &content),
        None => Change::creation(),
    };
    subject.write(session, &content)?;
    let structured = bounded(json!({
        "filePath": subject.path.to_string_lossy(),
        "oldString": params.replacement.old_string,
        "newString": params.replacement.new_string,
        "originalFile": change.original,
        "structuredPatch": change.structured_patch(),
        "userModified": false,
        "replaceAll": params.replacement.replace_all,
    }));
    Ok(ToolOutput::new(Content::Text(told(&subject.path, &change)), Some(structured)))
}

/// What the model is told about a change.
pub(super) fn told(path: &Path, change: &Change) -> String {
    let shown = path.display();
    match snippet(&change.hunks) {
        snippet if snippet.is_empty() => format!("{shown} was written."),
        snippet => format!("{shown} was changed. The changed lines now read:\n{snippet}"),
    }
}
