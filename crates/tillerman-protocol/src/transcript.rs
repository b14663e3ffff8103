//! Transcript entries: the lines of a session file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Message;
use crate::frame::AssistantMessage;
use crate::{EntryId, Moment, SessionId};

/// One line of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Entry {
    /// A prompt, a tool result or a synthetic user message.
    User(Box<UserEntry>),
    /// One content block of the model.
    Assistant(Box<AssistantEntry>),
    /// A note of the engine in the chain, such as a compaction boundary.
    System(Box<SystemEntry>),
    /// The newest prompt and the end of the chain, for listings.
    #[serde(rename_all = "camelCase")]
    LastPrompt {
        /// The prompt, shortened.
        last_prompt: String,
        /// The last entry of the chain.
        leaf_uuid: EntryId,
        /// The session.
        session_id: SessionId,
    },
    /// A title somebody chose.
    #[serde(rename_all = "camelCase")]
    CustomTitle {
        /// The title.
        custom_title: String,
        /// The session.
        session_id: SessionId,
    },
    /// A tag somebody chose; empty clears it.
    #[serde(rename_all = "camelCase")]
    Tag {
        /// The tag.
        tag: String,
        /// The session.
        session_id: SessionId,
    },
    /// What the session has cost so far, so that totals survive a resume.
    CostState(Box<CostState>),
    /// Any other line, as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// What every entry of the chain carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The entry; equals the uuid of the frame that showed it.
    pub uuid: EntryId,
    /// The entry before it; a tool result names the entry of its call.
    pub parent_uuid: Option<EntryId>,
    /// The parent across a compaction boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_parent_uuid: Option<EntryId>,
    /// Whether it belongs to a subagent.
    #[serde(default)]
    pub is_sidechain: bool,
    /// When it was written.
    #[serde(default)]
    pub timestamp: Moment,
    /// The session.
    #[serde(default = "no_session")]
    pub session_id: SessionId,
    /// The working directory.
    #[serde(default)]
    pub cwd: String,
    /// The protocol level of the writer.
    #[serde(default)]
    pub version: String,
    /// The git branch, if there is one.
    #[serde(default)]
    pub git_branch: String,
    /// Always `external`.
    #[serde(default)]
    pub user_type: String,
    /// Which program started the session.
    #[serde(default)]
    pub entrypoint: String,
}

fn no_session() -> SessionId {
    SessionId::new("")
}

/// A prompt, a tool result or a synthetic user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserEntry {
    /// Its place in the chain.
    #[serde(flatten)]
    pub link: Link,
    /// The message.
    pub message: Message,
    /// Whether the engine wrote it and people need not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_meta: Option<bool>,
    /// Whether it stands for everything that was compacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_compact_summary: Option<bool>,
    /// The structured outcome of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Value>,
    /// The entry of the call that this answers.
    #[serde(rename = "sourceToolAssistantUUID", default, skip_serializing_if = "Option::is_none")]
    pub source_tool_assistant_uuid: Option<EntryId>,
    /// The permission mode when the prompt was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One content block of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantEntry {
    /// Its place in the chain.
    #[serde(flatten)]
    pub link: Link,
    /// The message, with this one block.
    pub message: AssistantMessage,
    /// The provider's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Whether the engine wrote it to report a failure; such entries are never sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_api_error_message: Option<bool>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A note of the engine in the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemEntry {
    /// Its place in the chain.
    #[serde(flatten)]
    pub link: Link,
    /// What it says.
    #[serde(default)]
    pub subtype: String,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a session has cost so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostState {
    /// The session.
    #[serde(default)]
    pub session_id: Option<SessionId>,
    /// Dollars.
    #[serde(rename = "totalCostUSD", default)]
    pub total_cost_usd: f64,
    /// Time spent waiting for the model.
    #[serde(rename = "totalAPIDuration", default)]
    pub total_api_duration_ms: u64,
    /// Turns of the session and its agents.
    #[serde(rename = "totalTurns", default, skip_serializing_if = "is_zero")]
    pub total_turns: u64,
    /// By model.
    #[serde(default)]
    pub model_usage: std::collections::BTreeMap<String, crate::frame::ModelUsage>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// The place in the chain, for entries that have one.
    #[must_use]
    pub const fn link(&self) -> Option<&Link> {
        match self {
            Self::User(entry) => Some(&entry.link),
            Self::Assistant(entry) => Some(&entry.link),
            Self::System(entry) => Some(&entry.link),
            _ => None,
        }
    }
}
