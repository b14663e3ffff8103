//! News about background tasks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{TaskId, ToolUseId};

/// A task began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The task. Required by official clients.
    pub task_id: TaskId,
    /// What it does. Required by official clients.
    pub description: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// `local_bash`, `local_agent`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The kind of subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Whether the call that started it has returned already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// What the subagent was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A task made progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// The task. Required by official clients.
    pub task_id: TaskId,
    /// What it does. Required by official clients.
    pub description: String,
    /// What it has used so far. Required by official clients.
    pub usage: TaskUsage,
    /// The tool it used last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool_name: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A task changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskUpdated {
    /// The task.
    pub task_id: TaskId,
    /// What changed.
    #[serde(default)]
    pub patch: TaskPatch,
}

/// What changed about a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskPatch {
    /// `pending`, `running`, `completed`, `failed`, `killed` or `paused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When it ended, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<i64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskNotification {
    /// The task. Required by official clients.
    pub task_id: TaskId,
    /// `completed`, `failed` or `stopped`. Required by official clients.
    pub status: String,
    /// The file with everything it printed. Required by official clients.
    pub output_file: String,
    /// What came of it. Required by official clients.
    pub summary: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a task has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// Tokens.
    pub total_tokens: u64,
    /// Calls.
    pub tool_uses: u64,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// A task in the list of those that run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// The task.
    pub task_id: TaskId,
    /// `local_bash`, `local_agent`, …
    #[serde(default)]
    pub task_type: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
