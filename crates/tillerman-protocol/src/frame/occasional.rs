//! Frames that only some sessions see.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{EntryId, SessionId, TaskId, ToolUseId};

/// A tool is still running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolProgress {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool.
    pub tool_name: String,
    /// The call whose subagent runs it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Seconds since it started.
    pub elapsed_time_seconds: f64,
    /// The background task it runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// This frame.
    pub uuid: EntryId,
    /// The session.
    pub session_id: SessionId,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a few calls did together, in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUseSummary {
    /// The sentence.
    pub summary: String,
    /// The calls; some writers leave them out.
    #[serde(default)]
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// This frame.
    pub uuid: EntryId,
    /// The session.
    pub session_id: SessionId,
}

/// How close an account is to its limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateLimitEvent {
    /// The limit. Required by official clients.
    pub rate_limit_info: RateLimit,
    /// Required by official clients.
    pub uuid: EntryId,
    /// Required by official clients.
    pub session_id: SessionId,
}

/// A limit of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// `allowed`, `allowed_warning` or `rejected`. Required by official clients.
    pub status: String,
    /// When the limit starts over, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<f64>,
    /// Which limit: `five_hour`, `seven_day`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_type: Option<String>,
    /// How much of it is used up, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Everything else, such as what is known about usage beyond the limit.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How far signing in has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuthStatus {
    /// Whether it is under way.
    #[serde(rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// What the sign-in printed, line by line.
    #[serde(default)]
    pub output: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// This frame.
    pub uuid: EntryId,
    /// The session.
    pub session_id: SessionId,
}

/// What the person may want to say next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptSuggestion {
    /// The prompt.
    pub suggestion: String,
    /// This frame.
    pub uuid: EntryId,
    /// The session.
    pub session_id: SessionId,
}

/// The conversation starts over under a new id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationReset {
    /// The new session. Required by official clients.
    pub new_conversation_id: SessionId,
    /// Why: `clear`, `plan_mode_exit`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Required by official clients.
    pub uuid: EntryId,
    /// Required by official clients.
    pub session_id: SessionId,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Variables that a host hands to a running engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentUpdate {
    /// The variables by name.
    #[serde(default)]
    pub variables: std::collections::BTreeMap<String, String>,
}
