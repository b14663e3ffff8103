//! The edit call: from the model's input to the changed file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::substitute::Substitution;
use crate::blocking::{interrupted, off_thread};
use crate::files::{
    Change, Fingerprint, OpenFileError, absolute, bounded, check_path, load, open_regular, replace,
    resolve_target, snippet,
};
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "Edit";
const EDITED_BYTES: usize = 64 << 20;

const DESCRIPTION: &str = "\
Replaces text in a file that was read before in this session. old_string must occur exactly once, \
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
    old_string: String,
    new_string: String,
    replace_all: bool,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let file_path = fields.required_text("file_path", "the absolute path of the file")?;
        check_path(NAME, file_path)?;
        let old_string = fields.required_text("old_string", "the text to replace")?;
        let new_string = fields.required_text("new_string", "the text that takes its place")?;
        if old_string == new_string {
            return Err(format!(
                "{NAME}: old_string and new_string are the same, so there is nothing to change."
            ));
        }
        Ok(Self {
            file_path: file_path.to_owned(),
            old_string: old_string.to_owned(),
            new_string: new_string.to_owned(),
            replace_all: fields.optional_flag("replace_all")?.unwrap_or(false),
        })
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

/// The file under edit: as the model named it and with its links followed.
struct Place {
    path: PathBuf,
    target: PathBuf,
}

fn edit(session: &Session, params: &Params, cancel: &CancellationToken) -> ToolOutcome {
    let cwd = &session.config().cwd;
    let path = absolute(cwd, &params.file_path);
    let target = resolve_target(&path).map_err(|error| cannot_edit(&path, &error))?;
    let place = Place { path, target };
    let before = match open_regular(&place.target, cwd) {
        Ok((file, metadata)) => load(file, &metadata, EDITED_BYTES, cancel)
            .map_err(|error| cannot_edit(&place.path, &error))?,
        Err(OpenFileError::Missing { .. }) if params.old_string.is_empty() => {
            let content = params.new_string.as_bytes();
            return finish(session, params, &place, content, &Change::creation());
        }
        Err(error) => return Err(ToolFailure::new(error.to_string())),
    };
    let Some(bytes) = before.bytes else {
        return Err(ToolFailure::new(format!(
            "{} is larger than {} MiB, too large for Edit; it is unchanged. Use Bash, for example sed.",
            place.path.display(),
            EDITED_BYTES >> 20
        )));
    };
    let content = changed(session, params, &place, &bytes, before.fingerprint)?;
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let change = Change::between(Some(&bytes), &content);
    finish(session, params, &place, &content, &change)
}

/// The new content, or why there is none.
fn changed(
    session: &Session,
    params: &Params,
    place: &Place,
    bytes: &[u8],
    present: Fingerprint,
) -> Result<Vec<u8>, ToolFailure> {
    let shown = place.path.display();
    let fail = |message: String| Err(ToolFailure::new(message));
    if params.old_string.is_empty() {
        if bytes.is_empty() {
            return Ok(params.new_string.clone().into_bytes());
        }
        return fail(format!(
            "old_string is empty, which is only for new or empty files, but {shown} has content. \
             Give the text to replace, or use Write to replace everything."
        ));
    }
    let Some(seen) = session.last_seen(&place.target) else {
        return fail(format!(
            "{shown} was not read in this session, so it was not changed. Read it first, then edit it."
        ));
    };
    let substitution = Substitution::find(bytes, &params.old_string, &params.new_string);
    match substitution.count() {
        0 if seen != present => fail(format!(
            "old_string was not found in {shown}, which changed on disk since it was last read. \
             It was not changed. Read it again."
        )),
        0 => fail(format!(
            "old_string was not found in {shown}, so it was not changed. It must match exactly, \
             white space included and without line numbers. Read the place again and copy it."
        )),
        1 => Ok(substitution.apply(bytes)),
        count if !params.replace_all => fail(format!(
            "old_string occurs {count} times in {shown}, so it was not changed. \
             Take in more of the surrounding lines, or set replace_all to change all of them."
        )),
        count if seen != present => fail(format!(
            "{shown} changed on disk since it was last read, and old_string occurs {count} times \
             in it. It was not changed. Read it again."
        )),
        _ => Ok(substitution.apply(bytes)),
    }
}

fn finish(
    session: &Session,
    params: &Params,
    place: &Place,
    content: &[u8],
    change: &Change,
) -> ToolOutcome {
    replace(&place.target, content).map_err(|error| cannot_edit(&place.path, &error))?;
    session.remember(place.target.clone(), Fingerprint::of(content));
    let shown = place.path.display();
    let text = match snippet(&change.hunks) {
        snippet if snippet.is_empty() => format!("{shown} was written."),
        snippet => format!("{shown} was changed. The changed lines now read:\n{snippet}"),
    };
    let structured = bounded(json!({
        "filePath": place.path.to_string_lossy(),
        "oldString": params.old_string,
        "newString": params.new_string,
        "originalFile": change.original,
        "structuredPatch": change.structured_patch(),
        "userModified": false,
        "replaceAll": params.replace_all,
    }));
    Ok(ToolOutput { content: Content::Text(text), structured: Some(structured) })
}

fn cannot_edit(path: &Path, error: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("{} could not be edited: {error}.", path.display()))
}
