//! Takes credentials out of what tools and hooks bring in, before anything is stored, shown or sent.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::HookPrinted;
use tillerman_protocol::hook::HookOutput;
use tillerman_protocol::tool::ToolOutcome;

/// What stands in a credential's place.
const REDACTED: &str = "[redacted]";
/// Shorter values occur by chance; replacing them would damage ordinary text.
const SHORTEST: usize = 8;

/// How many credentials are remembered that came to be known on the way; the oldest go first.
const MOST_LEARNED: usize = 256;

/// The credentials of this process. Clones learn together.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Vec<String>,
    learned: Arc<RwLock<VecDeque<String>>>,
}

impl Secrets {
    /// Values that must never be seen.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let known = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        Self { known, learned: Arc::default() }
    }

    /// Adds a value that came to be known while the session runs.
    pub fn learn(&self, value: String) {
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        if value.len() < SHORTEST || self.known.contains(&value) || learned.contains(&value) {
            return;
        }
        if learned.len() == MOST_LEARNED {
            learned.pop_front();
        }
        learned.push_back(value);
    }

    fn is_empty(&self) -> bool {
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        self.known.is_empty() && learned.is_empty()
    }

    /// The outcome of a call without them.
    pub(crate) fn redact(&self, outcome: &mut ToolOutcome) {
        if self.is_empty() {
            return;
        }
        match outcome {
            Ok(output) => {
                self.redact_content(&mut output.content);
                output.structured.iter_mut().for_each(|value| self.redact_value(value));
            }
            Err(failure) => {
                self.redact_text(&mut failure.message);
                failure.structured.iter_mut().for_each(|value| self.redact_value(value));
            }
        }
    }

    /// What a hook printed, without them.
    pub(crate) fn redact_printed(&self, printed: &mut HookPrinted) {
        for text in [&mut printed.output, &mut printed.stdout, &mut printed.stderr] {
            self.redact_text(text);
        }
    }

    /// What a hook answered, without them.
    pub(crate) fn redact_output(&self, output: HookOutput) -> HookOutput {
        if self.is_empty() {
            return output;
        }
        let mut value = serde_json::to_value(&output).unwrap_or_default();
        self.redact_value(&mut value);
        serde_json::from_value(value).unwrap_or(output)
    }

    fn redact_content(&self, content: &mut Content) {
        match content {
            Content::Text(text) => self.redact_text(text),
            Content::Blocks(blocks) => {
                for block in blocks {
                    if let Block::Text { text, .. } = block {
                        self.redact_text(text);
                    }
                }
            }
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.redact_value(field)),
            _ => {}
        }
    }

    /// A text without them.
    pub fn redact_text(&self, text: &mut String) {
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        for secret in self.known.iter().chain(learned.iter()) {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), REDACTED);
            }
        }
    }
}

/// Says how many there are and never what they are.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Secrets({})", self.known.len() + learned.len())
    }
}
