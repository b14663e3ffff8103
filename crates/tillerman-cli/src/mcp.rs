//! MCP servers of the command line: read and reported, not yet connected.

use std::path::Path;

use tillerman_protocol::frame::McpServerState;
use tillerman_protocol::mcp::McpConfig;

use crate::failure::StartFailure;

/// The servers that were asked for. This version cannot connect to any, and says so.
pub(crate) fn servers(configs: &[String]) -> Result<Vec<McpServerState>, StartFailure> {
    let mut servers = Vec::new();
    for text in configs {
        let config = read(text)?;
        for name in config.mcp_servers.into_keys() {
            tracing::warn!("the MCP server {name} was left out: this version connects to none");
            servers.push(McpServerState { name, status: "failed".to_owned() });
        }
    }
    Ok(servers)
}

fn read(text: &str) -> Result<McpConfig, StartFailure> {
    let invalid = |why: String| StartFailure::usage(format!("--mcp-config {text}: {why}"));
    let json = if text.trim_start().starts_with('{') {
        text.to_owned()
    } else {
        std::fs::read_to_string(Path::new(text)).map_err(|error| invalid(error.to_string()))?
    };
    serde_json::from_str(&json).map_err(|error| invalid(error.to_string()))
}
