//! The tool that shows what a background command has printed.

use std::io::{self, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::TaskKind;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::registry::Task;
use crate::blocking::interrupted;
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "TaskOutput";
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

const DESCRIPTION: &str = "\
Shows what a command that runs in the background has printed so far, and whether it has ended. It \
waits for the end up to timeout; set block to false to look without waiting. Only the end of a long \
output is shown; the rest is in the task's output file.";

/// Shows what background commands have printed.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    session: Arc<Session>,
}

impl TaskOutput {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

struct Params {
    task_id: String,
    wait: Option<Duration>,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let task_id = fields.required_text("task_id", "the id of the background task")?.to_owned();
        let block = fields.optional_flag("block")?.unwrap_or(true);
        let timeout = fields.optional_whole("timeout")?.map(Duration::from_millis);
        let wait = timeout.unwrap_or(DEFAULT_WAIT).min(LONGEST_WAIT);
        Ok(Self { task_id, wait: block.then_some(wait) })
    }
}

impl Tool for TaskOutput {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "task_id": {"type": "string", "description": "The id of the background task."},
                    "block": {
                        "type": "boolean",
                        "default": true,
                        "description": "Wait for the task to end.",
                    },
                    "timeout": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": LONGEST_WAIT.as_millis() as u64,
                        "default": DEFAULT_WAIT.as_millis() as u64,
                        "description": "How many milliseconds to wait at most.",
                    },
                },
                "required": ["task_id"],
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
            let task = session.tasks().find(&params.task_id).map_err(ToolFailure::new)?;
            if let Some(wait) = params.wait {
                tokio::select! {
                    biased;
                    () = call.cancel.cancelled() => return Err(interrupted()),
                    // Running out of time is an answer too: the task is still running.
                    _ = tokio::time::timeout(wait, task.wait()) => {}
                }
            }
            show(&task, params.wait.is_some(), session.config().limits.inline_chars).await
        })
    }
}

async fn show(task: &Task, waited: bool, most: usize) -> ToolOutcome {
    let ended = task.ended();
    let (output, cut) = end_of(&task.output_file, most).await.map_err(|error| {
        let path = task.output_file.display();
        ToolFailure::new(format!("The output file {path} could not be read: {error}."))
    })?;
    let status = ended.as_ref().map_or("running", |ended| ended.end.status.name());
    let exit_code = ended.as_ref().and_then(|ended| ended.exit_code);
    let mut parts = vec![match &ended {
        Some(ended) => ended.end.summary.clone(),
        None => format!("Task {} is still running.", task.id),
    }];
    if cut {
        parts.push(format!(
            "[Only the end is shown; all of it is in {}.]",
            task.output_file.display()
        ));
    }
    parts.push(if output.trim().is_empty() { "(no output)".to_owned() } else { output.clone() });
    let retrieval = match (&ended, waited) {
        (Some(_), _) => "success",
        (None, true) => "timeout",
        (None, false) => "not_ready",
    };
    let structured = json!({
        "retrieval_status": retrieval,
        "task": {
            "task_id": task.id,
            "task_type": TaskKind::LocalBash.name(),
            "status": status,
            "description": task.description,
            "output": output,
            "exitCode": exit_code,
            "outputFile": task.output_file.to_string_lossy(),
        },
    });
    Ok(ToolOutput::new(Content::Text(parts.join("\n")), Some(structured)))
}

/// The last characters of a file, and whether there are more before them.
async fn end_of(path: &Path, most: usize) -> io::Result<(String, bool)> {
    let mut file = tokio::fs::File::open(path).await?;
    let length = file.metadata().await?.len();
    let start = length.saturating_sub(4 * most as u64);
    file.seek(SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(4 * most as u64).read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    let text = text.trim_end();
    let surplus = text.chars().count().saturating_sub(most);
    let kept: String = text.chars().skip(surplus).collect();
    Ok((kept, start > 0 || surplus > 0))
}
