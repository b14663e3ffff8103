//! A server's tool behind the port that the session knows.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Tool as ListedTool;
use serde_json::Value;
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolSpec};

use crate::board::Board;
use crate::call::{ToolRequest, call_tool};
use crate::names::full_name;
use crate::outcome::{Shelf, outcome};
use crate::schema::flattened;

/// Descriptions beyond this are cut: some servers put a manual there.
const LONGEST_DESCRIPTION: usize = 4_000;
/// A server may ask for more room for a result than usual, up to this.
const MOST_CHARS: usize = 500_000;
const ROOM_WANTED: &str = "anthropic/maxResultSizeChars";

/// A tool of a server.
#[derive(Clone, Debug)]
pub(crate) struct McpTool {
    board: Arc<Board>,
    server: String,
    tool: String,
    timeout: Duration,
    chars: usize,
    spec: ToolSpec,
}

impl McpTool {
    pub(crate) fn new(
        board: Arc<Board>,
        server: &str,
        listed: &ListedTool,
        timeout: Duration,
    ) -> Self {
        let wanted =
            listed.meta.as_ref().and_then(|meta| meta.get(ROOM_WANTED)).and_then(Value::as_u64);
        let wanted = wanted.and_then(|chars| usize::try_from(chars).ok());
        let chars = wanted.map_or(board.config.limits.output_chars, |chars| chars.min(MOST_CHARS));
        let only_looks =
            listed.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true);
        let described = listed.description.as_deref().unwrap_or_default();
        let spec = ToolSpec {
            name: full_name(server, &listed.name),
            description: described.chars().take(LONGEST_DESCRIPTION).collect(),
            input_schema: flattened(&listed.input_schema),
            access: if only_looks { Access::ReadOnly } else { Access::Mutating },
        };
        let (server, tool) = (server.to_owned(), listed.name.to_string());
        Self { board, server, tool, timeout, chars, spec }
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    /// The server checks its own schema; only what could not be sent at all is refused here.
    fn check(&self, input: &Value) -> Result<(), String> {
        if input.is_object() || input.is_null() {
            Ok(())
        } else {
            Err("the input must be an object".to_owned())
        }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let this = self.clone();
        Box::pin(async move {
            let request = ToolRequest {
                server: this.server.clone(),
                tool: this.tool.clone(),
                full_name: this.spec.name.clone(),
                arguments: call.input,
                tool_use_id: Some(call.tool_use_id),
                timeout: this.timeout,
                cancel: call.cancel,
            };
            let result = call_tool(&this.board, request).await;
            let result = result.map_err(|error| ToolFailure::new(error.to_string()))?;
            let directory = this.board.config.scratch_directory.clone();
            let shelf = Shelf { directory, chars: this.chars };
            outcome(&result, &this.spec.name, &shelf).await
        })
    }
}
