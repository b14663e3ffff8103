//! Frames: everything that travels between an engine and its host, one JSON object a line.

mod assistant;
mod user;

mod result;

mod hook_news;
mod system;
mod task;

mod occasional;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::control::{ControlCancel, ControlRequest, ControlResponse};
use crate::stream::StreamEvent;
use crate::{EntryId, SessionId, ToolUseId};

pub use assistant::{AssistantFrame, AssistantMessage};
pub use hook_news::{HookPrinted, HookProgress, HookResponse, HookStarted};
pub use occasional::{
    AuthStatus, ConversationReset, EnvironmentUpdate, PromptSuggestion, RateLimit, RateLimitEvent,
    ToolProgress, ToolUseSummary,
};
pub use result::{ModelUsage, PermissionDenial, ResultFrame, ResultSubtype};
pub use system::{
    ApiRetry, CompactMetadata, FileFailure, Init, McpServerState, MirrorKey, PermissionDenied,
    SavedFile, SessionState, SystemDetail, SystemFrame,
};
pub use task::{
    TaskNotification, TaskPatch, TaskProgress, TaskStarted, TaskSummary, TaskUpdated, TaskUsage,
};
pub use user::{ToolResultMeta, UserFrame};

/// One line of the protocol, in either direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// A content block of the model.
    Assistant(Box<AssistantFrame>),
    /// A prompt, a tool result or a synthetic message.
    User(Box<UserFrame>),
    /// News about the session.
    System(Box<SystemFrame>),
    /// The end of a prompt round.
    Result(Box<ResultFrame>),
    /// A raw event of a streamed response.
    StreamEvent(Box<StreamEventFrame>),
    /// Somebody wants an answer.
    ControlRequest(Box<ControlRequest>),
    /// Somebody answers.
    ControlResponse(Box<ControlResponse>),
    /// The answer to a request is no longer wanted.
    ControlCancelRequest(ControlCancel),
    /// Transcript entries for a host that keeps a copy.
    TranscriptMirror(TranscriptMirror),
    /// How far a prompt that carried an id has come.
    CommandLifecycle(CommandLifecycle),
    /// A tool is still running.
    ToolProgress(ToolProgress),
    /// What a few calls did together.
    ToolUseSummary(ToolUseSummary),
    /// How close an account is to its limits.
    RateLimitEvent(RateLimitEvent),
    /// How far signing in has come.
    AuthStatus(AuthStatus),
    /// What the person may want to say next.
    PromptSuggestion(PromptSuggestion),
    /// The conversation starts over under a new id.
    ConversationReset(ConversationReset),
    /// Variables that a host hands to a running engine.
    UpdateEnvironmentVariables(EnvironmentUpdate),
    /// Keeps the connection alive.
    KeepAlive,
    /// Any other frame, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// A raw event of a streamed response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamEventFrame {
    /// The event. Required by official clients.
    pub event: StreamEvent,
    /// The call whose subagent speaks.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Required by official clients.
    pub uuid: EntryId,
    /// Required by official clients.
    pub session_id: SessionId,
    /// Milliseconds from the request to this first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<u64>,
}

/// Transcript entries for a host that keeps a copy of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptMirror {
    /// The file the entries were appended to.
    pub file_path: String,
    /// The entries.
    pub entries: Vec<Value>,
}

/// How far a prompt that carried an id has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandLifecycle {
    /// The prompt's id.
    pub command_uuid: EntryId,
    /// `queued`, `started` or `completed`.
    pub state: String,
    /// This frame.
    pub uuid: EntryId,
    /// The session.
    pub session_id: SessionId,
}
