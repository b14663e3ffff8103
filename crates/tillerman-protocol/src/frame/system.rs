//! Frames with news about the session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::frame::hook_news::{HookProgress, HookResponse, HookStarted};
use crate::frame::task::{TaskNotification, TaskProgress, TaskStarted, TaskSummary, TaskUpdated};
use crate::permission::PermissionMode;
use crate::{EntryId, SessionId, ToolUseId};

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
        /// How a compaction ended: `success` or `failed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compact_result: Option<String>,
        /// Why a compaction failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compact_error: Option<String>,
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
    /// A background task began.
    TaskStarted(Box<TaskStarted>),
    /// A background task made progress.
    TaskProgress(TaskProgress),
    /// A background task changed.
    TaskUpdated(TaskUpdated),
    /// A background task ended.
    TaskNotification(Box<TaskNotification>),
    /// The list of background tasks changed.
    BackgroundTasksChanged {
        /// Those that run now.
        #[serde(default)]
        tasks: Vec<TaskSummary>,
    },
    /// The conversation before this point was summarised.
    CompactBoundary {
        /// Why and how much.
        compact_metadata: CompactMetadata,
        /// The entry before the boundary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        logical_parent_uuid: Option<EntryId>,
    },
    /// Old outputs of tools were cleared to make room.
    MicrocompactBoundary {
        /// Why and how much.
        microcompact_metadata: CompactMetadata,
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
    HookStarted(HookStarted),
    /// A hook printed something.
    HookProgress(HookProgress),
    /// A hook ended.
    HookResponse(HookResponse),
    /// The model thinks; how much is estimated.
    ThinkingTokens {
        /// Tokens so far.
        estimated_tokens: u64,
        /// Tokens since the last such frame.
        #[serde(default)]
        estimated_tokens_delta: u64,
    },
    /// The session has another title.
    SessionTitleChanged {
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Everything else, as it came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A host's copy of the transcript could not be kept up to date.
    MirrorError {
        /// What went wrong.
        error: String,
        /// What could not be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<MirrorKey>,
    },
    /// Files were uploaded or not.
    FilesPersisted {
        /// Those that were.
        #[serde(default)]
        files: Vec<SavedFile>,
        /// Those that were not.
        #[serde(default)]
        failed: Vec<FileFailure>,
        /// When.
        #[serde(default)]
        processed_at: String,
    },
    /// A command that needs no model printed something.
    LocalCommandOutput {
        /// The text.
        content: String,
    },
    /// The person is done with a question of an MCP server.
    ElicitationComplete {
        /// The server.
        mcp_server_name: String,
        /// The question.
        elicitation_id: String,
    },
    /// The list of commands changed.
    CommandsChanged {
        /// The commands, each with name and description.
        commands: Vec<Value>,
    },
    /// A line for the person.
    Informational {
        /// The text.
        content: String,
        /// `info`, `notice`, `suggestion` or `warning`.
        level: String,
        /// Everything else, as it came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Memories were given to the model.
    MemoryRecall {
        /// How they were chosen.
        mode: String,
        /// The memories, each with path and scope.
        memories: Vec<Value>,
    },
    /// Any other news, as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl SystemDetail {
    /// The engine is doing this right now.
    #[must_use]
    pub fn status(status: &str) -> Self {
        Self::Status {
            status: Some(status.to_owned()),
            permission_mode: None,
            compact_result: None,
            compact_error: None,
        }
    }

    /// This permission mode holds from now on.
    #[must_use]
    pub const fn mode(mode: PermissionMode) -> Self {
        let (compact_result, compact_error) = (None, None);
        Self::Status { status: None, permission_mode: Some(mode), compact_result, compact_error }
    }

    /// A compaction ended, well or for this reason.
    #[must_use]
    pub fn compacted(outcome: Result<(), String>) -> Self {
        let result = if outcome.is_ok() { "success" } else { "failed" };
        Self::Status {
            status: None,
            permission_mode: None,
            compact_result: Some(result.to_owned()),
            compact_error: outcome.err(),
        }
    }
}

/// What a round runs with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The working directory.
    pub cwd: String,
    /// The tools the model is offered, and those it has to look up first.
    pub tools: Vec<String>,
    /// Those of the tools that the model has to look up first.
    #[serde(skip)]
    pub deferred: Vec<String>,
    /// MCP servers and their state.
    #[serde(default)]
    pub mcp_servers: Vec<McpServerState>,
    /// The model.
    pub model: String,
    /// The permission mode.
    #[serde(rename = "permissionMode", default)]
    pub permission_mode: PermissionMode,
    /// Commands that work as prompts.
    #[serde(default)]
    pub slash_commands: Vec<String>,
    /// Where the credentials come from.
    #[serde(rename = "apiKeySource", default)]
    pub api_key_source: String,
    /// The level of the protocol that is spoken.
    #[serde(default)]
    pub claude_code_version: String,
    /// The version of Tillerman.
    #[serde(default)]
    pub tillerman_version: String,
    /// The output style.
    #[serde(default)]
    pub output_style: String,
    /// Subagents by name.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Skills by name.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Plugins.
    #[serde(default)]
    pub plugins: Vec<Value>,
    /// Directories beside `cwd` that tools may use.
    #[serde(default)]
    pub additional_directories: Vec<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An MCP server and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServerState {
    /// The server.
    pub name: String,
    /// `connected`, `pending`, `failed`, `needs-auth` or `disabled`.
    pub status: String,
    /// Where it is configured: `sdk` for a server inside the host, `plugin`, or a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
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

/// Names a part of a host's copy of a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MirrorKey {
    /// The project; some writers call it `project_key`.
    #[serde(alias = "project_key")]
    pub project_key: String,
    /// The session; some writers call it `session_id`.
    #[serde(alias = "session_id")]
    pub session_id: SessionId,
    /// The subagent's part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpath: Option<String>,
}

/// A file that was uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// Its name.
    pub filename: String,
    /// The id it is known by now.
    pub file_id: String,
}

/// A file that could not be uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFailure {
    /// Its name.
    pub filename: String,
    /// Why.
    pub error: String,
}
