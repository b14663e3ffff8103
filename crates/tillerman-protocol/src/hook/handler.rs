//! Hooks that are written down: the `hooks` section of settings, plugins, skills and agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something to be done when an event occurs.
#[derive(Clone, Debug, PartialEq)]
pub struct HookHandler {
    /// What is done.
    pub action: HookAction,
    /// Seconds it may take; nothing means as long as its kind usually may.
    pub timeout: Option<f64>,
    /// A permission rule: only calls it is about run the handler.
    pub condition: Option<String>,
    /// Whether it runs only once in a session.
    pub once: bool,
    /// What people may be shown while it runs.
    pub status_message: Option<String>,
}

/// What a handler does.
#[derive(Clone, Debug, PartialEq)]
pub enum HookAction {
    /// Runs a command.
    Command(CommandHook),
    /// Posts to a web address.
    Http(HttpHook),
    /// Calls a tool of an MCP server.
    McpTool(McpToolHook),
    /// Asks a model.
    Prompt(PromptHook),
    /// Has an agent look into it, with tools that only look.
    Agent(PromptHook),
}

/// A command that is told of the event on its standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandHook {
    /// A line for the shell, or a program when there are arguments.
    pub command: String,
    /// Arguments of the program; with them no shell is involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// The shell, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Whether nobody waits for it.
    #[serde(rename = "async", default)]
    pub in_background: bool,
    /// Whether nobody waits for it, and exit code 2 wakes the model.
    #[serde(default)]
    pub async_rewake: bool,
}

/// A web address that is told of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpHook {
    /// The address.
    pub url: String,
    /// Headers; `$NAME` and `${NAME}` stand for allowed variables.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The variables that headers may hold.
    #[serde(default)]
    pub allowed_env_vars: Vec<String>,
}

/// A tool of an MCP server that is called when the event occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpToolHook {
    /// The server.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// Its input; `${path.to.field}` stands for a field of what the hook is told.
    #[serde(default)]
    pub input: Map<String, Value>,
}

impl McpToolHook {
    /// The tool's name in a session.
    #[must_use]
    pub fn tool_name(&self) -> String {
        format!("mcp__{}__{}", self.server, self.tool)
    }
}

/// A question to a model or an agent about the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptHook {
    /// The question; `$ARGUMENTS` stands for what the hook is told.
    pub prompt: String,
    /// The model; nothing means the small one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether a refused call only fails instead of ending the round.
    #[serde(default)]
    pub continue_on_block: bool,
}

impl HookAction {
    /// The kind, as settings name it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Http(_) => "http",
            Self::McpTool(_) => "mcp_tool",
            Self::Prompt(_) => "prompt",
            Self::Agent(_) => "agent",
        }
    }
}
