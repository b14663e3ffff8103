//! What clients ask for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A conversation to begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewConversation {
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// What it is about.
    pub title: Option<String>,
    /// Where its agent works; nothing means the project's directory, or else the host's.
    pub cwd: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How calls are judged when no rule decides.
    pub permission_mode: Option<String>,
}

/// Changes to a conversation; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationPatch {
    /// What it is about.
    pub title: Option<String>,
    /// Whether it is put away.
    pub archived: Option<bool>,
    /// The model, also of a run that is under way.
    pub model: Option<String>,
    /// How calls are judged, also in a run that is under way.
    pub permission_mode: Option<String>,
}

/// An answer to a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// Whether the call may run.
    pub decision: Decision,
    /// What the model is told when it may not.
    #[serde(default)]
    pub message: Option<String>,
    /// What the tool is called with instead.
    #[serde(default)]
    pub updated_input: Option<Map<String, Value>>,
    /// Suggestions to take, by their place in the card.
    #[serde(default)]
    pub always: Vec<usize>,
    /// Answers by question, or values by field of a server's form.
    #[serde(default)]
    pub answers: Option<BTreeMap<String, Value>>,
    /// Whether a refusal also ends the round.
    #[serde(default)]
    pub interrupt: bool,
}

/// Whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not.
    Deny,
    /// A server's question is put aside without deciding; calls cannot be.
    Cancel,
}

/// Files, or files and conversation, to bring back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewindRequest {
    /// The message before which things were as wanted.
    pub message_id: String,
    /// Whether to only say what would change.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether the conversation forgets that message and everything after it as well.
    #[serde(default)]
    pub conversation: bool,
}

/// What a rewind did or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewindAnswer {
    /// Whether it is possible.
    pub can_rewind: bool,
    /// The files that change.
    pub files: Vec<String>,
    /// Lines that come back.
    pub insertions: u64,
    /// Lines that go.
    pub deletions: u64,
    /// Why it is not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How long cards wait, and whether there are any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalPolicy {
    /// What happens with questions.
    pub mode: ApprovalMode,
    /// Seconds after which a card is denied by itself, in normal mode.
    pub expires_after_seconds: Option<u64>,
}

/// What happens with questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// A card waits until its time is over and is denied then.
    #[default]
    Normal,
    /// A card waits until somebody answers it.
    Queued,
    /// Every question is denied at once, without a card.
    Paused,
}
