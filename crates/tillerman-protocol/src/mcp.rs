//! How MCP servers are configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One MCP server, as in `.mcp.json`, settings, `--mcp-config` and SDK options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "Value")]
pub enum McpServerConfig {
    /// A server that names its transport.
    Tagged(TaggedMcpServer),
    /// A server without `type`: a child process.
    Bare(StdioMcpServer),
    /// Anything else, kept so that it can be reported by name.
    Other(Value),
}

impl From<Value> for McpServerConfig {
    fn from(value: Value) -> Self {
        // A server with a transport nobody knows must not be started as a child process.
        let read = if value.get("type").is_some() {
            TaggedMcpServer::deserialize(&value).map(Self::Tagged)
        } else {
            StdioMcpServer::deserialize(&value).map(Self::Bare)
        };
        read.unwrap_or(Self::Other(value))
    }
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
    #[serde(alias = "streamable-http")]
    Http(RemoteMcpServer),
    /// A WebSocket.
    Ws(RemoteMcpServer),
    /// A server inside the SDK's process, reached over the control protocol.
    Sdk {
        /// The server's name.
        name: String,
        /// Milliseconds a call may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
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
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
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
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A file or argument that names MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpConfig {
    /// The servers by name.
    #[serde(default)]
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
}

/// A server as `mcp_status` describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// The server.
    pub name: String,
    /// `connected`, `pending`, `failed`, `needs-auth` or `disabled`.
    pub status: String,
    /// What the server says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// Why there is no connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How it is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<McpServerConfig>,
    /// Where it is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<McpToolStatus>>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A tool of a server as `mcp_status` describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpToolStatus {
    /// The tool, by the server's own name for it.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the server promises about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}
