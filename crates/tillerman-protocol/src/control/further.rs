//! Control requests that most hosts never send, grouped by what they are about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::mcp::McpServerConfig;
use crate::{SessionId, TaskId, ToolUseId};

/// Host → engine: requests about MCP servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum McpRequest {
    /// Connect to a server again.
    McpReconnect {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
    },
    /// Switch a server on or off.
    McpToggle {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
        /// Whether it is to be on.
        enabled: bool,
    },
    /// Replace the servers that the host added.
    McpSetServers {
        /// The servers by name.
        servers: BTreeMap<String, McpServerConfig>,
    },
    /// Call a tool of a server without a model.
    McpCall {
        /// The tool by its full name.
        tool: String,
        /// Its input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
        /// Everything else, such as the deadline.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Read a resource of a server.
    McpReadResource {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
        /// The resource.
        uri: String,
    },
}

/// Host → engine: requests about settings and what they bring in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum SettingsRequest {
    /// Lay settings over those of the command line.
    ApplyFlagSettings {
        /// The settings; `null` takes a key back.
        settings: Map<String, Value>,
    },
    /// Change a settings file.
    UpdateSettings {
        /// `localSettings` or `userSettings`.
        source: String,
        /// What changes.
        settings: Map<String, Value>,
    },
    /// Read the plugins again.
    ReloadPlugins,
    /// Read the skills again.
    ReloadSkills,
    /// Read the output styles again.
    ReloadOutputStyles,
    /// Work in a further directory.
    RegisterRepoRoot {
        /// The directory.
        directory: String,
        /// Everything else, such as what to read again.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// List the permission rules in force.
    ListPermissionRules,
    /// List the models that can be chosen.
    ListModels,
    /// List the hooks in force.
    GetHooksListing,
    /// Count a file as read, as it was at that time.
    SeedReadState {
        /// The file.
        path: String,
        /// When it was changed last, in milliseconds since the Unix epoch.
        mtime: f64,
    },
}

/// Host → engine: requests about the session and the files it works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum SessionRequest {
    /// Think of a title.
    GenerateSessionTitle {
        /// What the session is about.
        #[serde(default)]
        description: String,
        /// Everything else, as it came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Give the session a title.
    RenameSession {
        /// The title.
        title: String,
        /// The session, when it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Everything else, as it came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Give the session a color.
    SetColor {
        /// The color.
        color: String,
    },
    /// Say what was used and which limits are near.
    GetUsage,
    /// Say what the session has cost.
    GetSessionCost,
    /// Say which program answers.
    GetBinaryVersion,
    /// Read what a background task printed.
    GetTaskOutput {
        /// The task.
        task_id: TaskId,
    },
    /// Take up calls again that nobody had decided about when an earlier run ended. Only a host
    /// that knows that they never ran may ask for it.
    ReopenCalls {
        /// The calls.
        tool_use_ids: Vec<ToolUseId>,
    },
    /// Let a call, or all of them, go on in the background.
    BackgroundTasks {
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<ToolUseId>,
    },
    /// Read a file for the host.
    ReadFile {
        /// The file.
        path: String,
        /// How much of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bytes: Option<u64>,
        /// `utf-8` or `base64`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encoding: Option<String>,
    },
    /// Find files whose names fit.
    FileSuggestions {
        /// What was typed so far.
        query: String,
    },
}

/// Engine → host: questions for the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum PersonRequest {
    /// An MCP server wants to know something.
    Elicitation {
        /// The server.
        mcp_server_name: String,
        /// The question.
        message: String,
        /// `form` or `url`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The page to open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Names the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elicitation_id: Option<String>,
        /// What an answer must look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_schema: Option<Value>,
        /// Everything else, as it came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// The host is to show a dialog of a kind it knows.
    RequestUserDialog {
        /// The kind.
        dialog_kind: String,
        /// What it shows.
        #[serde(default)]
        payload: Value,
        /// The call it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<ToolUseId>,
    },
}
