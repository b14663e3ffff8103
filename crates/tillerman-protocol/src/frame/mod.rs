//! Frames: everything that travels between an engine and its host, one JSON object a line.

mod assistant;
mod result;
mod system;
mod user;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::control::{ControlCancel, ControlRequest, ControlResponse};
use crate::stream::StreamEvent;
use crate::{EntryId, SessionId, ToolUseId};

pub use assistant::{AssistantFrame, AssistantMessage};
pub use result::{ModelUsage, PermissionDenial, ResultFrame, ResultSubtype};
pub use system::{
    ApiRetry, CompactMetadata, Init, McpServerState, PermissionDenied, SessionState, SystemDetail,
    SystemFrame, TaskEvent,
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
    /// The conversation starts over under a new id.
    ConversationReset(ConversationReset),
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
    /// Why.
    pub trigger: String,
    /// Required by official clients.
    pub uuid: EntryId,
    /// Required by official clients.
    pub session_id: SessionId,
}
