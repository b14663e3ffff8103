//! The chunks servers stream, read tolerantly: anything may be missing or null.

use serde::Deserialize;
use serde_json::Value;
use tillerman_protocol::stream::Usage;

/// One chunk.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Value,
}

/// One of several answers; only the first is ever asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) delta: Option<ChoiceDelta>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

/// What the answer gains.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ChoiceDelta {
    #[serde(default)]
    pub(super) content: Option<Value>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

/// What a call gains.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CallDelta {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

impl Chunk {
    /// The server's id of the answer.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_str().filter(|id| !id.is_empty())
    }

    /// The model that answers.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_str().filter(|model| !model.is_empty())
    }

    /// Whether this is no chunk but an error document.
    pub(super) fn is_error(&self) -> bool {
        !self.error.is_null() || self.object == "error"
    }

    /// What the first answer gains; nothing in chunks that only report usage.
    pub(super) fn into_choice(self) -> Option<Choice> {
        self.choices?.into_iter().next()
    }

    /// The tokens used so far, where the chunk says.
    pub(super) fn usage(&self) -> Option<Usage> {
        let usage = self.usage.as_ref().filter(|usage| usage.is_object())?;
        let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
        let cached = count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .unwrap_or(0);
        Some(Usage {
            input_tokens: count("/prompt_tokens").unwrap_or(0).saturating_sub(cached),
            cache_read_input_tokens: cached,
            output_tokens: count("/completion_tokens").unwrap_or(0),
            ..Usage::default()
        })
    }
}

impl ChoiceDelta {
    /// More text, also where a server sends it as a list of parts.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part["text"].as_str()).collect()
            }
            _ => String::new(),
        }
    }

    /// More reasoning, under whichever name the server has for it.
    pub(super) fn reasoning(&self) -> &str {
        let other = self.reasoning.as_ref().and_then(Value::as_str);
        self.reasoning_content.as_deref().or(other).unwrap_or_default()
    }
}

impl CallDelta {
    /// The id, if the server gave one.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    /// The function's name, if this delta has it.
    pub(super) fn name(&self) -> Option<&str> {
        self.function.as_ref()?.name.as_deref().filter(|name| !name.is_empty())
    }

    /// More of the arguments; some servers send them as an object instead of its text.
    pub(super) fn arguments(&self) -> String {
        match self.function.as_ref().and_then(|function| function.arguments.as_ref()) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        }
    }
}
