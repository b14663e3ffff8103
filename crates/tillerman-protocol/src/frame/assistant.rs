//! Frames that carry what the model said.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Block;
use crate::lenient::null_as_default;
use crate::stream::Usage;
use crate::{EntryId, Moment, SessionId, ToolUseId};

/// One content block of the model. A response of three blocks arrives as three frames with one message id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantFrame {
    /// The message. Required by official clients.
    pub message: AssistantMessage,
    /// The call whose subagent speaks.
    #[serde(default)]
    pub parent_tool_use_id: Option<ToolUseId>,
    /// The session.
    pub session_id: SessionId,
    /// The frame, and the transcript entry that stores it.
    pub uuid: EntryId,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Moment>,
    /// The provider's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The kind of failure this message reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the engine wrote this message to report a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_api_error_message: Option<bool>,
    /// The HTTP status of that failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_status: Option<u16>,
    /// The subagent that speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message of the model as it stands in frames and transcripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The provider's id, shared by all blocks of a response.
    #[serde(default)]
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type", default = "message")]
    pub kind: String,
    /// Always `assistant`.
    #[serde(default = "assistant")]
    pub role: String,
    /// The model, or `<synthetic>`. Required by official clients.
    pub model: String,
    /// The blocks. Required by official clients.
    pub content: Vec<Block>,
    /// Why the model stopped, once known.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// The stop sequence that was hit.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// Tokens, as far as known when the block was complete.
    #[serde(default, deserialize_with = "null_as_default")]
    pub usage: Usage,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

fn message() -> String {
    "message".to_owned()
}

fn assistant() -> String {
    "assistant".to_owned()
}

impl AssistantMessage {
    /// The model name of messages that the engine itself wrote.
    pub const SYNTHETIC: &'static str = "<synthetic>";

    /// A message with one block.
    #[must_use]
    pub fn new(id: String, model: String, block: Block, usage: Usage) -> Self {
        Self {
            id,
            kind: message(),
            role: assistant(),
            model,
            content: vec![block],
            stop_reason: None,
            stop_sequence: None,
            usage,
            extra: Map::new(),
        }
    }
}
