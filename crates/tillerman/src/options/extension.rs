//! What is plugged in: settings, agents, MCP servers, plugins, skills.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};
use tillerman_protocol::mcp::{McpServerConfig, RemoteMcpServer, StdioMcpServer, TaggedMcpServer};

pub use tillerman_protocol::agent::AgentDefinition;

use crate::options::builder::Options;
use crate::tools::McpServer;

/// What is plugged in.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtensionOptions {
    pub(crate) setting_sources: Vec<SettingSource>,
    pub(crate) settings: Option<Settings>,
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
    pub(crate) servers: BTreeMap<String, ServerConfig>,
    pub(crate) strict_servers: bool,
    pub(crate) plugins: Vec<PathBuf>,
    pub(crate) skills: Option<Vec<String>>,
}

/// Files that settings are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// The user's settings.
    User,
    /// The project's shared settings, and its `CLAUDE.md`.
    Project,
    /// The project's local settings.
    Local,
}

impl SettingSource {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Further settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// A settings file.
    File(PathBuf),
    /// Settings as they would stand in a file.
    Json(Map<String, Value>),
}

/// An MCP server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerConfig {
    /// A server of your own inside this process.
    InProcess(McpServer),
    /// Any other server.
    External(McpServerConfig),
}

impl ServerConfig {
    /// A server that is started as a child process.
    pub fn stdio<S: Into<String>>(
        command: impl Into<String>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::External(McpServerConfig::Tagged(TaggedMcpServer::Stdio(StdioMcpServer {
            command: command.into(),
            args: arguments.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            timeout: None,
            extra: Map::new(),
        })))
    }

    /// A server that is reached over streamable HTTP.
    pub fn http(url: impl Into<String>) -> Self {
        Self::External(McpServerConfig::Tagged(TaggedMcpServer::Http(remote(url.into()))))
    }

    /// A server that is reached over server-sent events.
    pub fn sse(url: impl Into<String>) -> Self {
        Self::External(McpServerConfig::Tagged(TaggedMcpServer::Sse(remote(url.into()))))
    }

    /// Sets a variable of the child process; means nothing to other servers.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Self::External(McpServerConfig::Tagged(TaggedMcpServer::Stdio(server))) = &mut self {
            server.env.insert(name.into(), value.into());
        }
        self
    }

    /// Sends a header with every request; means nothing to child processes.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Self::External(McpServerConfig::Tagged(
            TaggedMcpServer::Http(server) | TaggedMcpServer::Sse(server),
        )) = &mut self
        {
            server.headers.insert(name.into(), value.into());
        }
        self
    }

    /// What the engine is told about a server of this name.
    pub(crate) fn on_the_wire(&self, name: &str) -> McpServerConfig {
        match self {
            Self::InProcess(_) => McpServerConfig::Tagged(TaggedMcpServer::Sdk {
                name: name.to_owned(),
                timeout: None,
            }),
            Self::External(config) => config.clone(),
        }
    }
}

fn remote(url: String) -> RemoteMcpServer {
    RemoteMcpServer { url, headers: BTreeMap::new(), timeout: None, extra: Map::new() }
}

impl From<McpServer> for ServerConfig {
    fn from(server: McpServer) -> Self {
        Self::InProcess(server)
    }
}

impl From<McpServerConfig> for ServerConfig {
    fn from(config: McpServerConfig) -> Self {
        Self::External(config)
    }
}

/// Extensions: settings, agents, servers, plugins and skills.
impl Options {
    /// Chooses which settings files are read (`settingSources`). Without it none are, so that a
    /// program behaves the same on every machine.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.extension.setting_sources = sources.into_iter().collect();
        self
    }

    /// Lays further settings over those of files.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.extension.settings = Some(settings);
        self
    }

    /// Defines a subagent that the model can hand work to (`agents`).
    pub fn agent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.extension.agents.insert(name.into(), agent);
        self
    }

    /// Adds an MCP server under a name (`mcpServers`). Servers in this process come from
    /// [`create_mcp_server`](crate::create_mcp_server).
    pub fn mcp_server(mut self, name: impl Into<String>, server: impl Into<ServerConfig>) -> Self {
        self.extension.servers.insert(name.into(), server.into());
        self
    }

    /// Uses no other MCP servers than those of these options.
    pub fn strict_mcp_config(mut self) -> Self {
        self.extension.strict_servers = true;
        self
    }

    /// Uses the plugin in this directory (`plugins`).
    pub fn plugin(mut self, directory: impl Into<PathBuf>) -> Self {
        self.extension.plugins.push(directory.into());
        self
    }

    /// Lets the session use these skills only.
    pub fn skills<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.extension.skills = Some(names.into_iter().map(Into::into).collect());
        self
    }
}
