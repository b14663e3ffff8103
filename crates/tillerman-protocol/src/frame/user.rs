//! Frames with prompts, tool results and synthetic messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{Content, Message};
use crate::{EntryId, Moment, SessionId, ToolUseId};

/// A prompt on its way in; a tool result, replay or synthetic message on its way out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserFrame {
    /// The message. Required by official clients.
    pub message: Message,
    /// The call whose subagent this belongs to.
    #[serde(default)]
    pub parent_tool_use_id: Option<ToolUseId>,
    /// The session; hosts may send anything here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The frame, and the transcript entry that stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<EntryId>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Moment>,
    /// The structured outcome of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Value>,
    /// How each tool result came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result_meta: Option<Vec<ToolResultMeta>>,
    /// Whether this repeats a prompt that came in.
    #[serde(rename = "isReplay", default, skip_serializing_if = "Option::is_none")]
    pub is_replay: Option<bool>,
    /// Whether the engine wrote it.
    #[serde(rename = "isSynthetic", default, skip_serializing_if = "Option::is_none")]
    pub is_synthetic: Option<bool>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How a tool result came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResultMeta {
    /// The call.
    pub id: ToolUseId,
    /// The decision that let it run or stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<Value>,
    /// Why it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_execution_kind: Option<String>,
}

impl UserFrame {
    /// A bare user message.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            message: Message { role: crate::content::Role::User, content },
            parent_tool_use_id: None,
            session_id: None,
            uuid: None,
            timestamp: None,
            tool_use_result: None,
            tool_result_meta: None,
            is_replay: None,
            is_synthetic: None,
            extra: Map::new(),
        }
    }
}
