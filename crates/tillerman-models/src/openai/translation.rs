//! Translates a streamed chat answer into the events of the Messages API.

use serde_json::{Value, json};
use tillerman_protocol::model::{ModelFailure, ModelRequest};
use tillerman_protocol::stream::{MessageHead, MessageOutcome, StreamEvent, Usage};

use super::blocks::{Blocks, Kind};
use super::calls::Calls;
use super::chunk::{CallDelta, ChoiceDelta, Chunk};
use super::failure::reported;
use crate::estimate;
use crate::event_reader::stream_failure;

/// An answer while it is being translated.
#[derive(Debug)]
pub(super) struct Translation {
    model: String,
    response_id: String,
    is_started: bool,
    blocks: Blocks,
    calls: Calls,
    finish_reason: Option<String>,
    is_refused: bool,
    usage: Option<Usage>,
    estimated_input: u64,
    written_bytes: usize,
}

impl Translation {
    /// The translation of the answer to a request that was sent in so many bytes.
    pub(super) fn new(request: &ModelRequest, sent_bytes: usize) -> Self {
        Self {
            model: request.model.clone(),
            response_id: String::new(),
            is_started: false,
            blocks: Blocks::default(),
            calls: Calls::new(request),
            finish_reason: None,
            is_refused: false,
            usage: None,
            estimated_input: estimate::tokens(sent_bytes),
            written_bytes: 0,
        }
    }

    /// Whether the model has said why it stopped, so that nothing of the answer is missing.
    pub(super) const fn has_outcome(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Translates one chunk.
    ///
    /// # Errors
    /// When the chunk reports an error or makes no sense.
    pub(super) fn chunk(&mut self, text: &str) -> Result<Vec<StreamEvent>, ModelFailure> {
        let chunk: Chunk = serde_json::from_str(text).map_err(|_| {
            stream_failure(
                "the response holds a chunk that cannot be read, so the rest of it was given up",
            )
        })?;
        if chunk.is_error() {
            return Err(reported(text.as_bytes()));
        }
        let mut out = Vec::new();
        self.start(&chunk, &mut out);
        if let Some(usage) = chunk.usage() {
            self.usage = Some(usage);
        }
        if let Some(choice) = chunk.into_choice() {
            if let Some(delta) = choice.delta {
                self.delta(&delta, &mut out)?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        Ok(out)
    }

    /// The events that complete the answer.
    pub(super) fn finish(&mut self) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        self.start(&Chunk::default(), &mut out);
        for call in 0..self.calls.count() {
            self.complete_arguments(call, &mut out);
        }
        self.blocks.finish(&mut out);
        let delta = MessageOutcome {
            stop_reason: Some(self.stop_reason().to_owned()),
            ..MessageOutcome::default()
        };
        let usage = self.usage.take().unwrap_or_else(|| Usage {
            input_tokens: self.estimated_input,
            output_tokens: estimate::tokens(self.written_bytes),
            ..Usage::default()
        });
        out.push(StreamEvent::MessageDelta { delta, usage });
        out.push(StreamEvent::MessageStop);
        out
    }

    fn start(&mut self, chunk: &Chunk, out: &mut Vec<StreamEvent>) {
        if self.is_started {
            return;
        }
        self.is_started = true;
        // Servers repeat their ids now and then; within a conversation they have to differ.
        let given = chunk.id().unwrap_or("chatcmpl");
        self.response_id = format!("{given}-{}", self.calls.messages());
        let mut message = MessageHead {
            id: self.response_id.clone(),
            model: chunk.model().unwrap_or(&self.model).to_owned(),
            ..MessageHead::default()
        };
        for (key, value) in [
            ("type", json!("message")),
            ("role", json!("assistant")),
            ("content", json!([])),
            ("stop_reason", Value::Null),
            ("stop_sequence", Value::Null),
        ] {
            message.extra.insert(key.to_owned(), value);
        }
        out.push(StreamEvent::MessageStart { message });
    }

    fn delta(
        &mut self,
        delta: &ChoiceDelta,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ModelFailure> {
        let text = delta.text();
        let refusal = delta.refusal.as_deref().unwrap_or_default();
        self.is_refused |= !refusal.is_empty();
        self.written_bytes += delta.reasoning().len() + text.len() + refusal.len();
        self.blocks.add_text(Kind::Thinking, delta.reasoning(), out);
        self.blocks.add_text(Kind::Text, &text, out);
        self.blocks.add_text(Kind::Text, refusal, out);
        delta.tool_calls.iter().flatten().try_for_each(|call| self.call(call, out))
    }

    fn call(&mut self, delta: &CallDelta, out: &mut Vec<StreamEvent>) -> Result<(), ModelFailure> {
        let begun = self.calls.count();
        let number = self.calls.add(delta, &self.response_id);
        if number == begun {
            self.blocks.begin_call(number);
        }
        let Some((_, call)) = self.calls.iter().nth(number) else { return Ok(()) };
        if let (Some(id), Some(name), Some(_)) = (&call.id, &call.name, delta.name()) {
            self.blocks.name_call(number, id, name);
        }
        let arguments = delta.arguments();
        self.written_bytes += arguments.len() + delta.name().map_or(0, str::len);
        if self.blocks.add_arguments(number, &arguments, call.is_complete(), out) {
            return Ok(());
        }
        Err(stream_failure(
            "the response adds to a tool call that was complete, so the rest of it was given up",
        ))
    }

    /// A call without arguments gets an empty object, which is what it means.
    fn complete_arguments(&mut self, number: usize, out: &mut Vec<StreamEvent>) {
        let call = self.calls.iter().nth(number);
        if call.is_some_and(|(_, call)| call.arguments.trim().is_empty()) {
            // A closed block has had its arguments, so this one is always open or waiting.
            let _added = self.blocks.add_arguments(number, "{}", true, out);
        }
    }

    fn stop_reason(&self) -> &'static str {
        match self.finish_reason.as_deref() {
            Some("length") => "max_tokens",
            Some("content_filter") => "refusal",
            // Some servers say "stop" also when tools are to be called, and the other way round.
            _ if self.calls.any_named() => "tool_use",
            _ if self.is_refused => "refusal",
            _ => "end_turn",
        }
    }
}
