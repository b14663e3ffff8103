//! The frame that ends a prompt round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient::null_as_default;
use crate::stream::Usage;
use crate::{EntryId, SessionId, ToolUseId};

/// How a prompt round ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultSubtype {
    /// The agent finished (or an API failure is reported with `is_error`).
    Success,
    /// It was interrupted or failed.
    ErrorDuringExecution,
    /// The turn limit was reached.
    ErrorMaxTurns,
    /// The dollar limit was reached.
    ErrorMaxBudgetUsd,
    /// No answer matched the schema.
    ErrorMaxStructuredOutputRetries,
    /// An ending that this version does not know; the round is over all the same.
    #[serde(untagged)]
    Other(String),
}

/// The end of a prompt round: one per round, always.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultFrame {
    /// Required by official clients.
    pub subtype: ResultSubtype,
    /// Whether the round failed. Required by official clients.
    pub is_error: bool,
    /// Wall-clock time of the round. Required by official clients.
    pub duration_ms: u64,
    /// Time spent waiting for the model, over the session. Required by official clients.
    pub duration_api_ms: u64,
    /// One more than the user frames the round produced. Required by official clients.
    pub num_turns: u32,
    /// What the agent said last; only with `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong; only with the error subtypes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    /// Why the model stopped.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Dollars spent, over the session.
    #[serde(default)]
    pub total_cost_usd: f64,
    /// Tokens of this round.
    #[serde(default, deserialize_with = "null_as_default")]
    pub usage: Usage,
    /// Tokens and dollars by model, over the session.
    #[serde(rename = "modelUsage", default, deserialize_with = "null_as_default")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Calls that were denied in this round.
    #[serde(default, deserialize_with = "null_as_default")]
    pub permission_denials: Vec<PermissionDenial>,
    /// `completed`, `max_turns`, `api_error`, `aborted_streaming`, `aborted_tools`, …
    #[serde(default)]
    pub terminal_reason: String,
    /// The HTTP status of an API failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_status: Option<u16>,
    /// The call that a hook deferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_tool_use: Option<Value>,
    /// The answer that matches the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// Ids of the prompts this round answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_message_uuids: Vec<EntryId>,
    /// Required by official clients.
    pub session_id: SessionId,
    /// This frame.
    #[serde(default = "nameless")]
    pub uuid: EntryId,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Official clients do without the id of a result, so some writers do too.
fn nameless() -> EntryId {
    EntryId::new("")
}

/// Tokens and dollars of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Uncached input tokens.
    #[serde(default)]
    pub input_tokens: u64,
    /// Generated tokens.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
    /// Searches the provider ran.
    #[serde(default)]
    pub web_search_requests: u64,
    /// Dollars.
    #[serde(rename = "costUSD", default)]
    pub cost_usd: f64,
    /// Tokens that fit into a request.
    #[serde(default)]
    pub context_window: u64,
    /// Tokens it may generate at most.
    #[serde(default)]
    pub max_output_tokens: u64,
}

/// A call that was denied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Its input.
    pub tool_input: Value,
}
