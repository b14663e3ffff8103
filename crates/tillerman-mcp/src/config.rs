//! What a hub is started with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tillerman_ports::Deferral;
use tillerman_protocol::mcp::{McpServerConfig, TaggedMcpServer};

use crate::sign_in::CredentialFiles;

/// Everything a hub is started with.
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// The environment of child processes, already filtered; a server's own variables are added.
    pub environment: Vec<(OsString, OsString)>,
    /// Where child processes start.
    pub cwd: PathBuf,
    /// Where outputs go that are too large for a conversation; made when first needed.
    pub scratch_directory: PathBuf,
    /// Who servers are told is calling.
    pub identity: ClientIdentity,
    /// How long things may take and how large they may be.
    pub limits: Limits,
    /// When tools are looked up instead of being offered from the start.
    pub deferral: Deferral,
    /// The tool that answers questions about permission.
    pub approver: Option<String>,
    /// The working directories, which servers may ask for.
    pub roots: Vec<PathBuf>,
    /// Where the tokens of servers are that somebody signed in to; without it none are used.
    pub credentials: Option<CredentialFiles>,
}

/// Who servers are told is calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// How long things may take and how large they may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the start of a server to the list of its tools.
    pub connect: Duration,
    /// A call of a tool, unless its server is configured otherwise.
    pub call: Duration,
    /// What the first prompt waits for servers that it needs.
    pub required: Duration,
    /// What the first prompt waits for servers that should be there from the start.
    pub preferred: Duration,
    /// Characters of a result that go into the conversation.
    pub output_chars: usize,
    /// How often a lost connection is tried to be made again.
    pub reconnects: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            // Long work is what servers are for; nothing may cut it off after a minute.
            call: Duration::from_secs(2 * 60 * 60),
            required: Duration::from_secs(30),
            preferred: Duration::from_secs(5),
            output_chars: 100_000,
            reconnects: 5,
        }
    }
}

/// A server under the name that the session knows it by.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedServer {
    /// The name.
    pub name: String,
    /// How it is configured.
    pub config: McpServerConfig,
    /// Where it is configured, for people.
    pub scope: String,
    /// How long the first prompt waits for it.
    pub patience: Patience,
}

/// How long the first prompt waits for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Patience {
    /// Not at all: its tools come when they come.
    None,
    /// A moment, because the server should be there from the start.
    Preferred,
    /// As long as a connection may take, because the host asked for the server by name.
    Required,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stdio,
    Http,
    Sse,
    InProcess,
    Unknown,
}

impl Kind {
    pub(crate) const fn of(config: &McpServerConfig) -> Self {
        match config {
            McpServerConfig::Bare(_) | McpServerConfig::Tagged(TaggedMcpServer::Stdio(_)) => {
                Self::Stdio
            }
            McpServerConfig::Tagged(TaggedMcpServer::Http(_)) => Self::Http,
            McpServerConfig::Tagged(TaggedMcpServer::Sse(_)) => Self::Sse,
            McpServerConfig::Tagged(TaggedMcpServer::Sdk { .. }) => Self::InProcess,
            McpServerConfig::Tagged(TaggedMcpServer::Ws(_)) | McpServerConfig::Other(_) => {
                Self::Unknown
            }
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::InProcess => "sdk",
            Self::Unknown => "unknown",
        }
    }
}

/// How long a call of this server's tools may take, where its configuration says so.
pub(crate) fn call_timeout(config: &McpServerConfig) -> Option<Duration> {
    let millis = match config {
        McpServerConfig::Bare(server) | McpServerConfig::Tagged(TaggedMcpServer::Stdio(server)) => {
            server.timeout
        }
        McpServerConfig::Tagged(
            TaggedMcpServer::Http(server)
            | TaggedMcpServer::Sse(server)
            | TaggedMcpServer::Ws(server),
        ) => server.timeout,
        McpServerConfig::Tagged(TaggedMcpServer::Sdk { timeout, .. }) => *timeout,
        McpServerConfig::Other(_) => None,
    };
    millis.filter(|millis| *millis > 0).map(Duration::from_millis)
}

/// Whether this server's tools are offered from the start, however many there are.
pub(crate) fn is_always_offered(config: &McpServerConfig) -> bool {
    let extra = match config {
        McpServerConfig::Bare(server) | McpServerConfig::Tagged(TaggedMcpServer::Stdio(server)) => {
            &server.extra
        }
        McpServerConfig::Tagged(
            TaggedMcpServer::Http(server)
            | TaggedMcpServer::Sse(server)
            | TaggedMcpServer::Ws(server),
        ) => &server.extra,
        McpServerConfig::Tagged(TaggedMcpServer::Sdk { .. }) | McpServerConfig::Other(_) => {
            return false;
        }
    };
    extra.get("alwaysLoad") == Some(&Value::Bool(true))
}
