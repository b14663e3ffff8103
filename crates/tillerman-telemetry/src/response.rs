//! One attempt to get a response, put together from its events.

use serde_json::{Value as Json, json};
use tillerman_protocol::stream::{Delta, StreamEvent, Usage};

use crate::content::{self, LONGEST};
use crate::settings::Capture;
use crate::span::{Span, Value};

/// Blocks of one response that are kept.
const MOST_BLOCKS: usize = 256;

/// One attempt to get a response.
#[derive(Debug)]
pub(crate) struct Response {
    span: Span,
    usage: Usage,
    stop_reason: Option<String>,
    capture: Capture,
    blocks: Vec<Block>,
    kept: usize,
}

/// A block of the response as it grows.
#[derive(Debug)]
struct Block {
    index: u32,
    head: Json,
    text: String,
}

impl Response {
    pub(crate) fn new(span: Span, capture: Capture) -> Self {
        let usage = Usage::default();
        Self { span, usage, stop_reason: None, capture, blocks: Vec::new(), kept: 0 }
    }

    pub(crate) fn hear(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::MessageStart { message } => {
                self.usage.update(&message.usage);
                if !message.id.is_empty() {
                    self.span.set("gen_ai.response.id", message.id.as_str());
                }
                if !message.model.is_empty() {
                    self.span.set("gen_ai.response.model", message.model.as_str());
                }
            }
            StreamEvent::MessageDelta { delta, usage } => {
                self.usage.update(usage);
                self.stop_reason = delta.stop_reason.clone().or(self.stop_reason.take());
            }
            StreamEvent::ContentBlockStart { index, content_block } => {
                self.open(*index, content_block);
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.grow(*index, delta),
            _ => {}
        }
    }

    fn open(&mut self, index: u32, head: &Json) {
        if self.capture == Capture::Nothing || self.blocks.len() >= MOST_BLOCKS {
            return;
        }
        let text = head["text"].as_str().unwrap_or_default().to_owned();
        self.blocks.push(Block { index, head: head.clone(), text });
    }

    fn grow(&mut self, index: u32, delta: &Delta) {
        let text = match delta {
            Delta::TextDelta { text } => text,
            Delta::InputJsonDelta { partial_json } => partial_json,
            Delta::ThinkingDelta { thinking } => thinking,
            Delta::SignatureDelta { .. } | Delta::Other(_) => return,
        };
        let Some(block) = self.blocks.iter_mut().find(|block| block.index == index) else { return };
        if self.kept + text.len() <= LONGEST {
            self.kept += text.len();
            block.text.push_str(text);
        }
    }

    /// The span of a response that is whole.
    pub(crate) fn done(mut self) -> Span {
        self.count();
        if let Some(reason) = &self.stop_reason {
            self.span.set("gen_ai.response.finish_reasons", Value::Texts(vec![reason.clone()]));
        }
        if self.capture == Capture::Content {
            let reason = content::finish_reason(self.stop_reason.as_deref());
            let parts: Vec<Json> = self.blocks.iter().map(Block::part).collect();
            let message = json!([{"role": "assistant", "parts": parts, "finish_reason": reason}]);
            self.span.set("gen_ai.output.messages", message.to_string());
        }
        self.span
    }

    /// The span of an attempt that came to nothing.
    pub(crate) fn failed(mut self, kind: &str) -> Span {
        self.count();
        self.span.fail(kind, "");
        self.span
    }

    /// Tokens that were not reported are not made up.
    fn count(&mut self) {
        let usage = &self.usage;
        if usage.input_total() + usage.output_tokens == 0 {
            return;
        }
        // By the conventions the input includes what came from a cache.
        let counts = [
            ("gen_ai.usage.input_tokens", usage.input_total()),
            ("gen_ai.usage.output_tokens", usage.output_tokens),
            ("gen_ai.usage.cache_read.input_tokens", usage.cache_read_input_tokens),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cache_creation_input_tokens),
        ];
        for (name, count) in counts {
            self.span.set(name, count);
        }
    }
}

impl Block {
    /// The block as a part of a message.
    fn part(&self) -> Json {
        match self.head["type"].as_str().unwrap_or_default() {
            "tool_use" => json!({
                "type": "tool_call",
                "id": self.head["id"],
                "name": self.head["name"],
                "arguments": serde_json::from_str::<Json>(&self.text)
                    .unwrap_or_else(|_| Json::String(self.text.clone())),
            }),
            "thinking" => json!({"type": "reasoning", "content": self.text}),
            _ => json!({"type": "text", "content": self.text}),
        }
    }
}
