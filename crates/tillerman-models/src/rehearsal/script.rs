//! Plays responses as the events a real provider would stream.

use serde_json::{Value, json};
use tillerman_protocol::model::ModelEvent;
use tillerman_protocol::stream::{Delta, MessageHead, MessageOutcome, StreamEvent, Usage};

use super::plan::PlannedCall;

/// Every call of a rehearsal has an id that begins so.
pub(super) const CALL_PREFIX: &str = "toolu_rehearsal_";

/// What identifies a response: the same request always gets the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// How many messages the conversation had.
    pub(super) messages: usize,
    /// A digest of the conversation, so that ids differ between subagents and after compaction.
    pub(super) digest: u32,
    /// How many tokens the request had, by estimate.
    pub(super) input_tokens: u64,
}

/// Plays a text.
pub(super) fn play_text(stamp: Stamp, text: &str) -> Vec<ModelEvent> {
    let mut events = vec![start(stamp)];
    let block = json!({"type": "text", "text": ""});
    events.push(StreamEvent::ContentBlockStart { index: 0, content_block: block });
    for piece in pieces(text, 24) {
        let delta = Delta::TextDelta { text: piece };
        events.push(StreamEvent::ContentBlockDelta { index: 0, delta });
    }
    events.push(StreamEvent::ContentBlockStop { index: 0 });
    finish(events, stamp, "end_turn", text.len())
}

/// Plays calls of tools.
pub(super) fn play_calls(stamp: Stamp, calls: &[PlannedCall]) -> Vec<ModelEvent> {
    let mut events = vec![start(stamp)];
    let mut written = 0;
    for (index, call) in (0u32..).zip(calls) {
        let id = format!("{CALL_PREFIX}{}_{:08x}_{index}", stamp.messages, stamp.digest);
        let block = json!({"type": "tool_use", "id": id, "name": call.tool, "input": {}});
        events.push(StreamEvent::ContentBlockStart { index, content_block: block });
        let input = call.input.to_string();
        written += call.tool.len() + input.len();
        for partial_json in pieces(&input, 32) {
            let delta = Delta::InputJsonDelta { partial_json };
            events.push(StreamEvent::ContentBlockDelta { index, delta });
        }
        events.push(StreamEvent::ContentBlockStop { index });
    }
    finish(events, stamp, "tool_use", written)
}

fn start(stamp: Stamp) -> StreamEvent {
    let mut message = MessageHead {
        id: format!("msg_rehearsal_{}_{:08x}", stamp.messages, stamp.digest),
        model: "rehearsal".to_owned(),
        usage: Usage { input_tokens: stamp.input_tokens, output_tokens: 1, ..Usage::default() },
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
    StreamEvent::MessageStart { message }
}

fn finish(
    mut events: Vec<StreamEvent>,
    stamp: Stamp,
    reason: &str,
    written: usize,
) -> Vec<ModelEvent> {
    let delta = MessageOutcome { stop_reason: Some(reason.to_owned()), ..Default::default() };
    let usage = Usage {
        input_tokens: stamp.input_tokens,
        output_tokens: crate::estimate::tokens(written),
        ..Usage::default()
    };
    events.push(StreamEvent::MessageDelta { delta, usage });
    events.push(StreamEvent::MessageStop);
    let accepted = ModelEvent::Accepted { request_id: None };
    std::iter::once(accepted).chain(events.into_iter().map(ModelEvent::Stream)).collect()
}

/// Cuts a text after white space, or at the latest after `most` characters more.
fn pieces(text: &str, most: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for (length, c) in text.chars().enumerate() {
        piece.push(c);
        let is_full = piece.len() >= most;
        if (is_full && c.is_whitespace()) || piece.len() >= 2 * most || length == 0 {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}
