//! How MCP servers are configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One MCP server, as in `.mcp.json`, settings, `--mcp-config` and SDK options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpServerConfig {
    /// A server that names its transport.
    Tagged(TaggedMcpServer),
    /// A server without `type`: a child process.
    Bare(StdioMcpServer),
    /// Anything else, kept so that it can be reported by name.
    Other(Value),
}

/// A server that names its transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum TaggedMcpServer {
    /// A child process spoken to over its standard streams.
    Stdio(StdioMcpServer),
    /// Server-sent events.
    Sse(RemoteMcpServer),
    /// Streamable HTTP.
    Http(RemoteMcpServer),
    /// A WebSocket.
    Ws(RemoteMcpServer),
    /// A server inside the SDK's process, reached over the control protocol.
    Sdk {
        /// The server's name.
        name: String,
    },
}

/// A server started as a child process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StdioMcpServer {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Milliseconds a call may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

/// A server reached over the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteMcpServer {
    /// Its address.
    pub url: String,
    /// Headers sent with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Milliseconds a call may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

/// A file or argument that names MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpConfig {
    /// The servers by name.
    #[serde(default)]
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
}
