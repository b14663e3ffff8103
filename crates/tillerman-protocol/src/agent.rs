//! Subagents as people define them: in files, on the command line, or in the handshake.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::permission::PermissionMode;

/// A subagent: what it is for, what it is told, and what it may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentDefinition {
    /// The name it is called by; definitions in a map have it as their key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// When it is to be used.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has; `None` means all of its parent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools that it does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// The model, by alias or id; `inherit` means its parent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The permission mode it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// Requests it may make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Skills whose text it begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// MCP servers it has: names of known ones, or servers by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<Value>>,
    /// Hooks that hold while it runs, by event name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<BTreeMap<String, Value>>,
    /// Where its own memory is kept: `user`, `project` or `local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Whether it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// How hard the model should try: a level or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Value>,
    /// `worktree` for a working copy of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// The prompt it begins with when it is the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_prompt: Option<String>,
    /// The color hosts show it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}
