//! The tool that ends a background command.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::TaskKind;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "TaskStop";
/// Longer than it takes to ask, wait and kill.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

const DESCRIPTION: &str =
    "Ends a command that runs in the background, with everything it has started.";

/// Ends background commands.
#[derive(Debug)]
pub(crate) struct TaskStop {
    session: Arc<Session>,
}

impl TaskStop {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

fn parse(input: &Value) -> Result<String, String> {
    let fields = Fields::of(NAME, input)?;
    if let Some(id) = fields.optional_text("shell_id")? {
        return Ok(fields.optional_text("task_id")?.unwrap_or(id).to_owned());
    }
    Ok(fields.required_text("task_id", "the id of the background task")?.to_owned())
}

impl Tool for TaskStop {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "task_id": {"type": "string", "description": "The id of the background task."},
                },
                "required": ["task_id"],
                "additionalProperties": false,
            }),
            // It reaches nothing but what the session itself was allowed to start.
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let id = parse(&call.input).map_err(ToolFailure::new)?;
            let task = session.tasks().find(&id).map_err(ToolFailure::new)?;
            if let Some(ended) = task.ended() {
                let summary = ended.end.summary;
                return Err(ToolFailure::new(format!("Task {id} has already ended. {summary}")));
            }
            task.cancel.cancel();
            let ended = tokio::select! {
                ended = tokio::time::timeout(LONGEST_WAIT, task.wait()) => ended.is_ok(),
                () = call.cancel.cancelled() => false,
            };
            let message = if ended {
                format!("Task {id} was stopped.")
            } else {
                format!("Task {id} was told to stop and has not ended yet.")
            };
            let structured = json!({
                "message": message,
                "task_id": id,
                "task_type": TaskKind::LocalBash.name(),
                "command": task.command,
            });
            Ok(ToolOutput::new(Content::Text(message), Some(structured)))
        })
    }
}
