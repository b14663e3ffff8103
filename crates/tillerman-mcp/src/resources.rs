//! The tools that list and read what servers have to read.

use std::sync::Arc;

use rmcp::model::{ClientRequest, ReadResourceRequest, ReadResourceRequestParams};
use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Phase};
use crate::call::{CallError, Wait, ask};
use crate::listing;
use crate::outcome::{Shelf, resource};

/// Lists resources.
#[derive(Clone, Debug)]
pub(crate) struct ListResources(pub(crate) Arc<Board>);

/// Reads a resource.
#[derive(Clone, Debug)]
pub(crate) struct ReadResource(pub(crate) Arc<Board>);

/// Reads a resource and returns the result as it came.
pub(crate) async fn read(
    board: &Board,
    server: &str,
    uri: String,
    cancel: &CancellationToken,
) -> Result<Value, CallError> {
    let params = ReadResourceRequestParams::new(uri);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    let timeout = board.config.limits.call;
    ask(board, request, &Wait { server, timeout, cancel }).await
}

/// Connected servers that have resources.
pub(crate) fn servers_with_resources(board: &Board) -> Vec<String> {
    board.read(|entries| {
        let has_some = entries.iter().filter(|(_, entry)| {
            entry.phase.offer().is_some_and(|offer| offer.capabilities.resources.is_some())
        });
        has_some.map(|(name, _)| name.clone()).collect()
    })
}

impl ListResources {
    async fn list(&self, wanted: Option<&str>) -> Result<Vec<Value>, ToolFailure> {
        if let Some(name) = wanted
            && self.0.phase(name).is_none()
        {
            let known = servers_with_resources(&self.0).join(", ");
            let text =
                format!("There is no MCP server called {name}. Those with resources: {known}");
            return Err(ToolFailure::new(text));
        }
        let mut found = Vec::new();
        let limit = self.0.config.limits.connect;
        let servers = servers_with_resources(&self.0);
        for server in servers.iter().filter(|name| wanted.is_none_or(|wanted| wanted == *name)) {
            let Some(Phase::Connected(connected)) = self.0.phase(server) else { continue };
            match tokio::time::timeout(limit, listing::resources(&connected.peer)).await {
                Ok(Ok(resources)) => {
                    for resource in resources {
                        let mut value = serde_json::to_value(&resource).unwrap_or_default();
                        value["server"] = json!(server);
                        found.push(value);
                    }
                }
                Ok(Err(error)) => found.push(json!({"server": server, "error": error.to_string()})),
                Err(_) => found.push(json!({"server": server, "error": "it did not answer"})),
            }
        }
        Ok(found)
    }
}

impl Tool for ListResources {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ListMcpResourcesTool".to_owned(),
            description:
                "Lists the resources that connected MCP servers offer, with the server each \
                          belongs to."
                    .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "Only list those of this server"}
                },
                "additionalProperties": false
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        match input.get("server") {
            None | Some(Value::String(_) | Value::Null) => Ok(()),
            Some(_) => Err("server must be a string".to_owned()),
        }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let this = self.clone();
        Box::pin(async move {
            let wanted = call.input.get("server").and_then(Value::as_str);
            let found = tokio::select! {
                found = this.list(wanted) => found?,
                () = call.cancel.cancelled() => return Err(ToolFailure::new("Cancelled.")),
            };
            let text = if found.is_empty() {
                "No resources were found.".to_owned()
            } else {
                serde_json::to_string_pretty(&found).unwrap_or_default()
            };
            Ok(ToolOutput::new(Content::Text(text), Some(Value::Array(found))))
        })
    }
}

impl Tool for ReadResource {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ReadMcpResourceTool".to_owned(),
            description: "Reads a resource of a connected MCP server by its URI.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "The server"},
                    "uri": {"type": "string", "description": "The resource"}
                },
                "required": ["server", "uri"],
                "additionalProperties": false
            }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        for name in ["server", "uri"] {
            if input.get(name).and_then(Value::as_str).is_none_or(str::is_empty) {
                return Err(format!("{name} must be given as a string"));
            }
        }
        Ok(())
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let board = Arc::clone(&self.0);
        Box::pin(async move {
            let text =
                |name: &str| call.input.get(name).and_then(Value::as_str).unwrap_or_default();
            let (server, uri) = (text("server"), text("uri"));
            let result = read(&board, server, uri.to_owned(), &call.cancel).await;
            let result = result.map_err(|error| ToolFailure::new(error.to_string()))?;
            let contents = result.get("contents").and_then(Value::as_array).cloned();
            let shelf = Shelf {
                directory: board.config.scratch_directory.clone(),
                chars: board.config.limits.output_chars,
            };
            let contents = contents.unwrap_or_default();
            let content = resource(&contents, server, &shelf).await;
            let told = contents.into_iter().map(|part| without_bulk(part, shelf.chars));
            let told: Vec<Value> = told.collect();
            Ok(ToolOutput::new(content, Some(json!({"contents": told}))))
        })
    }
}

/// A part of a resource as hosts are told of it. Data and long texts are in the files that the
/// content names.
fn without_bulk(mut part: Value, chars: usize) -> Value {
    if let Some(fields) = part.as_object_mut() {
        fields.retain(|name, value| match name.as_str() {
            "uri" | "mimeType" => true,
            "text" => value.as_str().is_some_and(|text| text.len() <= chars),
            _ => false,
        });
    }
    part
}
