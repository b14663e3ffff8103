//! What happens in a conversation, numbered from 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::Approval;

/// Something that happened in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A person's message was accepted.
    User {
        /// Names the message.
        message_id: String,
        /// Its text.
        text: String,
        /// What came with it.
        attachments: Vec<AttachmentNote>,
        /// Who sent it.
        by: String,
        /// What the client called it.
        #[serde(default)]
        client_id: String,
    },
    /// A message waits for its turn.
    Queued {
        /// The message.
        message_id: String,
        /// Its place, from 1; 0 once the run has taken it up.
        position: u32,
    },
    /// A message was taken back before its turn.
    Unqueued {
        /// The message.
        message_id: String,
    },
    /// A frame, exactly as the engine emitted it.
    Frame {
        /// The frame.
        frame: Value,
    },
    /// A card was made or has changed.
    Approval {
        /// The card as it is now.
        approval: Box<Approval>,
    },
    /// Files are as they were before a message, and the conversation may have forgotten it with
    /// everything after it, up to here.
    Rewound {
        /// The message.
        message_id: String,
        /// Whether the conversation forgot it, or only files came back.
        conversation: bool,
        /// How many files came back.
        files: u64,
    },
    /// The run behind the conversation has changed.
    Run {
        /// What it does now.
        state: RunState,
        /// What a person should know about it; empty when there is nothing to say.
        #[serde(default)]
        message: String,
    },
}

/// What came with a message, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachmentNote {
    /// The file's name.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where its bytes are, for whoever may see the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is being started.
    Starting,
    /// It works.
    Running,
    /// It waits for a message.
    Idle,
    /// A person stopped it.
    Interrupted,
    /// It failed.
    Failed,
    /// It waits for the model's provider.
    Paused,
    /// It broke and is started again.
    Restarting,
}
