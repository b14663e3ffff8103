//! Conversations as clients see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tillerman_protocol::Moment;

/// A conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// Names it.
    pub id: String,
    /// What it is about; empty until there is something to name it after.
    pub title: String,
    /// Who made it.
    pub owner: String,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// Where its agent works.
    pub cwd: String,
    /// The model that answers.
    pub model: String,
    /// How tool calls are judged when no rule decides.
    pub permission_mode: String,
    /// When it began.
    #[schemars(with = "String")]
    pub created_at: Moment,
    /// When something happened last.
    #[schemars(with = "String")]
    pub updated_at: Moment,
    /// Whether it was put away.
    pub archived: bool,
    /// The session behind it, once there is one.
    pub session_id: Option<String>,
    /// What it is doing.
    pub state: ConversationState,
    /// Cards that wait for an answer.
    pub pending_approvals: u32,
    /// Messages that wait to be taken up.
    pub queued: u32,
    /// Dollars spent so far.
    pub cost_usd: f64,
    /// The beginning of what was said last.
    pub last_text: String,
    /// Where a search found its words: plain text, the hit between U+0002 and U+0003.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
}

/// What a conversation is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationState {
    /// Nothing.
    #[default]
    Idle,
    /// A round is under way.
    Running,
    /// A round waits for an answer to a card.
    Waiting,
    /// The model's provider is out of order; the run goes on by itself once it is back.
    Paused,
    /// The last run failed and nobody tries again by itself.
    Failed,
}

impl ConversationState {
    /// The name on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Failed => "failed",
        }
    }

    /// Reads a name; one that nobody knows means idle.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "running" => Self::Running,
            "waiting" => Self::Waiting,
            "paused" => Self::Paused,
            "failed" => Self::Failed,
            _ => Self::Idle,
        }
    }
}
