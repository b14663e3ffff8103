//! Projects, personas, skills and agents: what the sessions of the host are made of.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where agents work and what holds for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// Names it; chosen by the host.
    pub id: String,
    /// The file it is read from and changed in; chosen by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its name for people.
    pub name: String,
    /// The working directory, an absolute path.
    pub cwd: String,
    /// Variables that its agents see.
    pub environment: BTreeMap<String, String>,
    /// Files, folders and names that nothing may write, in any mode.
    pub guarded_paths: Vec<String>,
    /// Calls that need no question, such as `Read` or `Bash(git status)`.
    pub allowed_tools: Vec<String>,
    /// Tools that do not exist and calls that are refused.
    pub disallowed_tools: Vec<String>,
    /// How calls are judged when no rule decides; nothing means the host's own.
    pub permission_mode: Option<String>,
    /// The model; nothing means the host's own.
    pub model: Option<String>,
    /// Dollars one session may spend.
    pub max_budget_usd: Option<f64>,
    /// Dollars all its conversations may spend in a day.
    pub daily_budget_usd: Option<f64>,
    /// The personas of its agents, in this order.
    pub persona_ids: Vec<String>,
    /// The skills of its agents, in this order.
    pub skill_ids: Vec<String>,
    /// The agents that its agents can call.
    pub agent_ids: Vec<String>,
    /// MCP servers by name.
    pub mcp_servers: BTreeMap<String, Value>,
    /// Text for its agents, before personas and skills.
    pub additional_prompt: String,
}

/// Who an agent is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Persona {
    /// Names it; chosen by the host.
    pub id: String,
    /// The file it is read from and changed in; chosen by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its name for people.
    pub name: String,
    /// What agents are told.
    pub text: String,
}

/// What an agent can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Skill {
    /// Names it; chosen by the host.
    pub id: String,
    /// The file it is read from and changed in; chosen by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its name for people.
    pub name: String,
    /// What agents are told.
    pub text: String,
}

/// Somebody whom agents can have a part of their work done by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Names it; chosen by the host.
    pub id: String,
    /// The file it is read from and changed in; chosen by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name it is called by.
    pub name: String,
    /// When it is to be called.
    pub description: String,
    /// What it is told.
    pub prompt: String,
    /// The tools it has; nothing means all that its caller has.
    pub tools: Option<Vec<String>>,
    /// Tools it does not have.
    pub disallowed_tools: Vec<String>,
    /// The model; nothing means its caller's.
    pub model: Option<String>,
}
