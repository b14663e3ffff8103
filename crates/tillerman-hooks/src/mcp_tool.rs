//! Handlers that call a tool of an MCP server.

use std::sync::Arc;

use serde_json::Value;
use tillerman_ports::{Bounds, Hidden, HookJob, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::hook::{HookEvent, McpToolHook};

use crate::interpolate;
use crate::meaning::{Meaning, of_text, quoted};
use crate::tree::new_mark;

/// Calls the tool; what it returns counts like what a command prints.
///
/// # Cancel safety
/// Dropping the future asks the tool to end.
pub(crate) async fn call(job: &HookJob, hook: &McpToolHook, event: HookEvent) -> Meaning {
    let Some(tool) = job.tool.clone() else {
        return Meaning::failed(format!(
            "there is no tool {}; is the server {} connected?",
            hook.tool, hook.server
        ));
    };
    let told = serde_json::to_value(&*job.input).unwrap_or_default();
    let input = Value::Object(interpolate::fields(&hook.input, &told));
    if let Err(why) = tool.check(&input) {
        return Meaning::failed(format!("the tool {} does not take its input: {why}", hook.tool));
    }
    let cancel = job.cancel.child_token();
    let guard = cancel.clone().drop_guard();
    let outcome = tool
        .call(ToolCall {
            tool_use_id: ToolUseId::new(format!("hook_{}", new_mark())),
            input,
            cancel,
            environment: Vec::new(),
            bounds: Bounds::Confined,
            hidden: Hidden::default(),
            tasks: Arc::clone(&job.tasks),
        })
        .await;
    drop(guard);
    match outcome {
        Ok(output) => {
            let text = output.content.plain_text();
            let shown = quoted(&text);
            Meaning { stdout: shown, ..of_text(event, &text) }
        }
        Err(failure) => {
            Meaning::failed(format!("the tool {} failed: {}", hook.tool, quoted(&failure.message)))
        }
    }
}
