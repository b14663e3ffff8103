//! Cards: questions that wait for a person, about a tool call or from an MCP server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tillerman_protocol::Moment;

use crate::wire::Elicitation;

/// A question about one call, or one of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Names it; it is answered once.
    pub id: String,
    /// The conversation that waits.
    pub conversation_id: String,
    /// The call as the model named it; empty for a question of an MCP server.
    pub tool_use_id: String,
    /// The tool, or `mcp__` and the server that asks.
    pub tool_name: String,
    /// What the tool is to be called with.
    pub input: Value,
    /// SHA-256 over tool, input, working directory and session, in hex: what the answer is for.
    pub input_hash: String,
    /// All that will run, for people.
    pub display: Display,
    /// What kind of answer is wanted.
    pub kind: ApprovalKind,
    /// What an MCP server asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<Box<Elicitation>>,
    /// Rules that would make the question unnecessary next time.
    pub suggestions: Vec<Suggestion>,
    /// Where it will run.
    pub cwd: String,
    /// The subagent that asks.
    pub agent_id: Option<String>,
    /// Why it is a question.
    pub reason: Option<String>,
    /// When it was asked.
    #[schemars(with = "String")]
    pub created_at: Moment,
    /// When it is denied by itself.
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<Moment>,
    /// Whether and how it was answered.
    pub state: ApprovalState,
    /// Who answered.
    pub answered_by: Option<String>,
    /// When.
    #[schemars(with = "Option<String>")]
    pub answered_at: Option<Moment>,
    /// What the answer said.
    pub message: Option<String>,
}

/// All that will run, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Display {
    /// One line about it.
    pub title: String,
    /// Everything, byte-exact, with control characters and marks nobody sees as visible escapes.
    pub lines: Vec<String>,
    /// What should make a person look twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A rule that would make the question unnecessary next time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// What it would allow and where it is kept, for people.
    pub label: String,
    /// The update itself.
    pub update: Value,
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// Whether the call may run.
    Permission,
    /// Answers to questions.
    Question,
    /// Whether a plan is good.
    Plan,
    /// What an MCP server wants to know.
    Elicitation,
}

/// Whether and how a card was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits.
    Pending,
    /// The call may run.
    Allowed,
    /// It may not, or the server gets no answer.
    Denied,
    /// A person put a server's question aside without deciding.
    Cancelled,
    /// Nobody answered in time; the call was denied.
    Expired,
    /// The question is gone: the run was interrupted or ended.
    Withdrawn,
}

impl ApprovalState {
    /// The name on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}
