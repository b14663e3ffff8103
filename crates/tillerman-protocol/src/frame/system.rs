//! Frames with news about the session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::permission::PermissionMode;
use crate::{EntryId, SessionId, TaskId, ToolUseId};

/// News about the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemFrame {
    /// What the news is.
    #[serde(flatten)]
    pub detail: SystemDetail,
    /// The session.
    pub session_id: SessionId,
    /// This frame.
    pub uuid: EntryId,
}

/// What the news is, by `subtype`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum SystemDetail {
    /// What this round runs with; opens every round.
    Init(Box<Init>),
    /// What the engine is doing right now.
    Status {
        /// `requesting`, `compacting` or nothing.
        status: Option<String>,
        /// The permission mode, when it changed.
        #[serde(rename = "permissionMode", default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<PermissionMode>,
    },
    /// Whether the session works, waits or rests.
    SessionStateChanged {
        /// The state.
        state: SessionState,
        /// Marks the frame as meant for hosts that asked for it.
        #[serde(default)]
        sdk_host_only: bool,
    },
    /// A call was denied because nobody could be asked.
    PermissionDenied(PermissionDenied),
    /// A request to the model failed and will be repeated.
    ApiRetry(ApiRetry),
    /// A background task began. Required fields: `task_id`, `description`.
    TaskStarted(TaskEvent),
    /// A background task made progress.
    TaskProgress(TaskEvent),
    /// A background task changed.
    TaskUpdated(TaskEvent),
    /// A background task ended.
    TaskNotification(TaskEvent),
    /// The conversation before this point was summarised.
    CompactBoundary {
        /// Why and how much.
        compact_metadata: CompactMetadata,
    },
    /// Something a person should know.
    Notification {
        /// What kind of thing.
        key: String,
        /// The text.
        text: String,
        /// `low`, `medium`, `high` or `immediate`.
        priority: String,
    },
    /// A hook began.
    HookStarted(Map<String, Value>),
    /// A hook printed something.
    HookProgress(Map<String, Value>),
    /// A hook ended.
    HookResponse(Map<String, Value>),
    /// Any other news, as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// What a round runs with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The working directory.
    pub cwd: String,
    /// The tools the model is offered.
    pub tools: Vec<String>,
    /// MCP servers and their state.
    pub mcp_servers: Vec<McpServerState>,
    /// The model.
    pub model: String,
    /// The permission mode.
    #[serde(rename = "permissionMode")]
    pub permission_mode: PermissionMode,
    /// Commands that work as prompts.
    pub slash_commands: Vec<String>,
    /// Where the credentials come from.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    /// The level of the protocol that is spoken.
    pub claude_code_version: String,
    /// The version of Tillerman.
    #[serde(default)]
    pub tillerman_version: String,
    /// The output style.
    pub output_style: String,
    /// Subagents by name.
    pub agents: Vec<String>,
    /// Skills by name.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<Value>,
    /// Directories beside `cwd` that tools may use.
    #[serde(default)]
    pub additional_directories: Vec<String>,
}

/// An MCP server and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServerState {
    /// The server.
    pub name: String,
    /// `connected`, `pending`, `failed`, `needs-auth` or `disabled`.
    pub status: String,
}

/// Whether the session works, waits or rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A round is under way.
    Running,
    /// Somebody has to answer before the round can go on.
    RequiresAction,
    /// Nothing runs.
    Idle,
}

/// A call was denied because nobody could be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionDenied {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What kind of thing decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason_type: Option<String>,
    /// What decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// What the model is told.
    pub message: String,
}

/// A request to the model failed and will be repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiRetry {
    /// Which repetition comes next, from 1.
    pub attempt: u32,
    /// How many there may be.
    pub max_retries: u32,
    /// How long the engine waits first.
    pub retry_delay_ms: u64,
    /// The HTTP status, if there was one.
    pub error_status: Option<u16>,
    /// The kind of failure.
    pub error: String,
}

/// News about a background task; which fields are there depends on the subtype.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskEvent {
    /// The task.
    pub task_id: TaskId,
    /// Everything else.
    #[serde(flatten)]
    pub detail: Map<String, Value>,
}

/// Why and how much of a conversation was summarised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactMetadata {
    /// `manual` or `auto`.
    pub trigger: String,
    /// Tokens before.
    pub pre_tokens: u64,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
