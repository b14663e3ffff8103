//! The tool that writes whole files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::blocking::{interrupted, off_thread};
use crate::files::{
    Change, Fingerprint, OpenFileError, Stored, absolute, bounded, check_path, load, open_regular,
    replace, resolve_target,
};
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "Write";
/// Previous contents beyond this are replaced without being compared.
const COMPARED_BYTES: usize = 8 << 20;

const DESCRIPTION: &str = "\
Writes a file, making it and its directories where they do not exist and replacing all of its \
content where it does. Read a file that matters first; one that changed since it was read is not \
replaced. To change parts of a file use Edit.";

/// Writes whole files.
#[derive(Debug)]
pub(crate) struct Write {
    session: Arc<Session>,
}

impl Write {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    file_path: String,
    content: String,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let file_path = fields.required_text("file_path", "the absolute path of the file")?;
        check_path(NAME, "file_path", file_path)?;
        let content = fields.required_text("content", "the whole new content as a string")?;
        Ok(Self { file_path: file_path.to_owned(), content: content.to_owned() })
    }
}

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "Absolute path of the file."},
                    "content": {"type": "string", "description": "The whole new content."},
                },
                "required": ["file_path", "content"],
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
            off_thread(call.cancel, move |cancel| write(&session, &params, cancel)).await
        })
    }
}

fn write(session: &Session, params: &Params, cancel: &CancellationToken) -> ToolOutcome {
    let path = absolute(&session.config().cwd, &params.file_path);
    let target = resolve(&path)?;
    let before = match open_regular(&target, session.config()) {
        Ok((file, metadata)) => Some(
            load(file, &metadata, COMPARED_BYTES, cancel)
                .map_err(|error| cannot_write(&path, &error))?,
        ),
        Err(OpenFileError::Missing { .. }) => None,
        Err(error) => return Err(ToolFailure::new(error.to_string())),
    };
    if let Some(before) = &before {
        ensure_fresh(session, &path, &target, before)?;
    }
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let content = params.content.as_bytes();
    replace(&target, content, session.config()).map_err(|error| cannot_write(&path, &error))?;
    session.remember(target, Fingerprint::of(content));
    Ok(report(&path, &params.content, before.as_ref()))
}

/// Refuses to undo changes that somebody made after the model had looked.
fn ensure_fresh(
    session: &Session,
    path: &Path,
    target: &Path,
    before: &Stored,
) -> Result<(), ToolFailure> {
    let shown = path.display();
    match session.last_seen(target) {
        Some(seen) if seen == before.fingerprint => Ok(()),
        Some(_) => Err(ToolFailure::new(format!(
            "{shown} changed on disk since it was last read, so it was not replaced. \
             Read it again, then write it with those changes in mind."
        ))),
        // What was never read is replaced like a new file is made; its content is reported.
        None => Ok(()),
    }
}

fn report(path: &Path, content: &str, before: Option<&Stored>) -> ToolOutput {
    let lines = content.lines().count();
    let shown = path.display();
    let (kind, change, text) = match before {
        None => ("create", Change::creation(), format!("Created {shown} ({lines} lines).")),
        Some(before) => {
            let change = Change::between(before.bytes.as_deref(), content.as_bytes());
            ("update", change, format!("Replaced the content of {shown} (now {lines} lines)."))
        }
    };
    let structured = bounded(json!({
        "type": kind,
        "filePath": path.to_string_lossy(),
        "content": content,
        "structuredPatch": change.structured_patch(),
        "originalFile": change.original,
        "userModified": false,
    }));
    ToolOutput::new(Content::Text(text), Some(structured))
}

fn resolve(path: &Path) -> Result<PathBuf, ToolFailure> {
    resolve_target(path).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("{} could not be written: {error}.", path.display()))
}
