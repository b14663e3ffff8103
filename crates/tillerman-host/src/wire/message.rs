//! Messages that people send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message for a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// What the agent is to do.
    pub text: String,
    /// Images and files.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Chosen by the client; a message that comes twice under one id is taken once.
    pub client_id: String,
}

/// A file that comes with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// What it is, such as `image/png`.
    pub media_type: String,
    /// Its bytes, without a `data:` prefix.
    pub data_base64: String,
}

/// The receipt of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// Names the message from now on.
    pub message_id: String,
    /// 0 when the run takes it now, otherwise its place in the queue.
    pub position: u32,
}
