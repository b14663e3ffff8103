//! The events of a streamed response, as the Messages API sends them and `stream_event` frames repeat them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient::null_as_default;

/// One event of a streamed response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// The response begins.
    MessageStart {
        /// Its head: id, model, first usage.
        message: MessageHead,
    },
    /// A content block begins.
    ContentBlockStart {
        /// Position of the block.
        index: u32,
        /// The block with its starting content.
        content_block: Value,
    },
    /// A content block grows.
    ContentBlockDelta {
        /// Position of the block.
        index: u32,
        /// What is added.
        delta: Delta,
    },
    /// A content block is complete.
    ContentBlockStop {
        /// Position of the block.
        index: u32,
    },
    /// The response's outcome: stop reason and final usage.
    MessageDelta {
        /// What is now known.
        delta: MessageOutcome,
        /// Usage so far.
        #[serde(default, deserialize_with = "null_as_default")]
        usage: Usage,
    },
    /// The response is complete.
    MessageStop,
    /// Keeps the connection alive.
    Ping,
    /// Any other event, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// The head of a response, sent with `message_start`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageHead {
    /// The provider's id of the response.
    #[serde(default)]
    pub id: String,
    /// The model that answers.
    #[serde(default)]
    pub model: String,
    /// Usage known at the start.
    #[serde(default, deserialize_with = "null_as_default")]
    pub usage: Usage,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a content block gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    /// More text.
    TextDelta {
        /// The text.
        text: String,
    },
    /// More of a tool's input, as JSON text.
    InputJsonDelta {
        /// A piece of JSON.
        partial_json: String,
    },
    /// More reasoning.
    ThinkingDelta {
        /// The reasoning text.
        thinking: String,
    },
    /// The signature of the reasoning.
    SignatureDelta {
        /// The signature.
        signature: String,
    },
    /// Any other delta, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// How a response ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageOutcome {
    /// Why the model stopped: `end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `refusal`, …
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// The stop sequence that was hit.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Tokens a response used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read that were not cached.
    #[serde(default, deserialize_with = "null_as_default")]
    pub input_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cache_read_input_tokens: u64,
    /// Tokens generated.
    #[serde(default, deserialize_with = "null_as_default")]
    pub output_tokens: u64,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Usage {
    /// Takes over what a later report of the same response knows better.
    ///
    /// Providers repeat only some counters in `message_delta`; a zero there means "not said".
    pub fn update(&mut self, later: &Self) {
        fn newer(old: &mut u64, new: u64) {
            if new > 0 {
                *old = new;
            }
        }
        newer(&mut self.input_tokens, later.input_tokens);
        newer(&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens);
        newer(&mut self.cache_read_input_tokens, later.cache_read_input_tokens);
        newer(&mut self.output_tokens, later.output_tokens);
        for (key, value) in &later.extra {
            self.extra.insert(key.clone(), value.clone());
        }
    }

    /// Adds another response's tokens.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.cache_creation_input_tokens += other.cache_creation_input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
        self.output_tokens += other.output_tokens;
    }

    /// All tokens the request carried, cached or not.
    #[must_use]
    pub const fn input_total(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
    }
}
