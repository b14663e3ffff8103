//! MCP servers inside this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::BoxFuture;

use crate::error::{Error, ErrorKind, Result};
use crate::tools::definition::{Tool, ToolContext};
use crate::tools::outcome::ToolOutput;
use crate::tools::wire::{INVALID_PARAMS, METHOD_NOT_FOUND, answer, refusal};

/// The newest version of MCP that is spoken here.
const VERSION: &str = "2025-11-25";
const LONGEST_NAME: usize = 64;

/// A server of tools inside this process. Clones are the same server.
#[derive(Clone, Debug)]
pub struct McpServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    version: String,
    tools: Vec<Tool>,
    by_name: BTreeMap<String, usize>,
}

/// Puts tools behind a server.
///
/// # Errors
/// [`ErrorKind::Tool`] when two tools have one name, when a name cannot be used, or when a schema
/// is not that of an object.
pub fn create_mcp_server(
    name: impl Into<String>,
    version: impl Into<String>,
    tools: impl IntoIterator<Item = Tool>,
) -> Result<McpServer> {
    let (name, version) = (name.into(), version.into());
    let tools: Vec<Tool> = tools.into_iter().collect();
    let mut by_name = BTreeMap::new();
    for (at, tool) in tools.iter().enumerate() {
        check(&name, tool)?;
        if by_name.insert(tool.name().to_owned(), at).is_some() {
            let text = format!(
                "the server {name} has two tools called {}; the model could not tell them apart; \
                 rename one",
                tool.name()
            );
            return Err(Error::new(ErrorKind::Tool, text));
        }
    }
    Ok(McpServer { inner: Arc::new(Inner { name, version, tools, by_name }) })
}

fn check(server: &str, tool: &Tool) -> Result<()> {
    let name = tool.name();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        let text = format!(
            "the tool name {name:?} of the server {server} cannot be used; letters, digits, _ and \
             - are allowed, at most {LONGEST_NAME} of them"
        );
        return Err(Error::new(ErrorKind::Tool, text));
    }
    let schema = tool.schema();
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    if !is_object {
        let text = format!(
            "the schema of the tool {name} is not that of an object, so that its arguments would \
             have no names; make its arguments a struct"
        );
        return Err(Error::new(ErrorKind::Tool, text));
    }
    Ok(())
}

impl McpServer {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its tools.
    pub fn tools(&self) -> &[Tool] {
        &self.inner.tools
    }

    /// Answers a JSON-RPC message.
    ///
    /// # Cancel safety
    /// Dropping the future drops the tool that it runs.
    #[must_use]
    pub fn answer(&self, message: Value) -> BoxFuture<Value> {
        let server = self.clone();
        Box::pin(async move { server.respond(&message).await })
    }

    async fn respond(&self, message: &Value) -> Value {
        let Some(id) = message.get("id") else {
            // A notification wants no answer, but the control request that brought it does.
            return json!({"jsonrpc": "2.0", "result": {}});
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        match message.get("method").and_then(Value::as_str) {
            Some("initialize") => answer(id, &self.greet(params)),
            Some("ping") => answer(id, &json!({})),
            Some("tools/list") => {
                let tools: Vec<Value> = self.inner.tools.iter().map(Tool::on_the_wire).collect();
                answer(id, &json!({"tools": tools}))
            }
            Some("tools/call") => match params.get("name").and_then(Value::as_str) {
                Some(name) => answer(id, &self.call(name, params).await.into_wire()),
                None => refusal(id, INVALID_PARAMS, "tools/call needs the name of a tool"),
            },
            Some(other) => refusal(id, METHOD_NOT_FOUND, &format!("Method not found: {other}")),
            None => refusal(id, METHOD_NOT_FOUND, "the message names no method"),
        }
    }

    fn greet(&self, params: &Value) -> Value {
        let wanted = params.get("protocolVersion").and_then(Value::as_str).unwrap_or(VERSION);
        json!({
            "protocolVersion": wanted,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self.inner.name, "version": self.inner.version},
        })
    }

    async fn call(&self, name: &str, params: &Value) -> ToolOutput {
        let Some(tool) = self.inner.by_name.get(name).and_then(|at| self.inner.tools.get(*at))
        else {
            return ToolOutput::error(format!("Tool '{name}' not found"));
        };
        let meta = params.pointer("/_meta/claudecode~1toolUseId").and_then(Value::as_str);
        let context =
            ToolContext { tool_use_id: meta.map(str::to_owned), server: self.inner.name.clone() };
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        tool.run(arguments, context).await
    }
}
