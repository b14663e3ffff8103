//! What the model says in one response, and how the bytes of it arrive.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::stream::Usage;

use crate::gate::Gate;

/// Starts a response without content; see [`Response`].
#[must_use]
pub fn response() -> Response {
    Response::default()
}

/// One response of the scripted model: its content blocks, how it ends and how it is delivered.
///
/// Streamed, it is this sequence of events, which the methods that count events refer to:
/// `message_start`, `ping`, then for every block `content_block_start`, its
/// `content_block_delta`s and `content_block_stop`, and last `message_delta` and `message_stop`.
/// When the request did not ask for a stream, the whole answer counts as one event.
/// Counts beyond the last event mean "after the last event".
#[derive(Clone, Debug, Default)]
pub struct Response {
    pub(crate) blocks: Vec<Value>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) delta_chars: Option<usize>,
    pub(crate) raw_body: Option<String>,
    pub(crate) delivery: Delivery,
    pub(crate) hold_before: Option<Gate>,
    pub(crate) moves_prefix: Option<String>,
}

/// How the bytes of a response arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) holds: Vec<(usize, Gate)>,
    pub(crate) insertions: Vec<(usize, String)>,
    pub(crate) pauses: Vec<(usize, Duration)>,
    pub(crate) ending: Ending,
    pub(crate) pace: Option<Pace>,
}

/// How a delivery ends.
#[derive(Clone, Debug, Default)]
pub(crate) enum Ending {
    #[default]
    Complete,
    CutAfterEvents(usize),
    CutAfterBytes(usize),
    HangAfterEvents(usize),
    ErrorAfterEvents(usize, Value),
}

/// Small pieces with a pause after each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) bytes: usize,
    pub(crate) pause: Duration,
}

impl Response {
    /// Adds a text block.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(json!({ "type": "text", "text": text.into() }))
    }

    /// Adds a reasoning block with a made-up signature.
    #[must_use]
    pub fn thinking(self, thinking: impl Into<String>) -> Self {
        let thinking = thinking.into();
        self.block(json!({ "type": "thinking", "thinking": thinking, "signature": "c2lnbmVk" }))
    }

    /// Adds a tool call; its id is made up from the request's number and the block's position.
    #[must_use]
    pub fn tool_call(self, name: &str, input: impl Into<Value>) -> Self {
        self.block(json!({ "type": "tool_use", "name": name, "input": input.into() }))
    }

    /// Adds a tool call with an id of the test's choice.
    #[must_use]
    pub fn tool_call_with_id(self, id: &str, name: &str, input: impl Into<Value>) -> Self {
        self.block(json!({ "type": "tool_use", "id": id, "name": name, "input": input.into() }))
    }

    /// Adds any block as it is; in a stream it arrives whole with its `content_block_start`
    /// unless it is a text, reasoning or tool call.
    #[must_use]
    pub fn block(mut self, block: Value) -> Self {
        self.blocks.push(block);
        self
    }

    /// Sets why the model stopped. Left out, it is `tool_use` after a tool call, else `end_turn`.
    #[must_use]
    pub fn stop_reason(mut self, stop_reason: impl Into<String>) -> Self {
        self.stop_reason = Some(stop_reason.into());
        self
    }

    /// Sets the tokens used. Left out, it is 10 in and 5 out.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the model that claims to have answered. Left out, it is the one asked for.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets how many characters one delta event carries at most. Left out, it is 40.
    #[must_use]
    pub fn delta_chars(mut self, chars: usize) -> Self {
        self.delta_chars = Some(chars.max(1));
        self
    }

    /// Holds the reply before its first byte, headers included, until the gate opens.
    #[must_use]
    pub fn hold_before(mut self, gate: &Gate) -> Self {
        self.hold_before = Some(gate.clone());
        self
    }

    /// Holds the reply after this many events until the gate opens.
    #[must_use]
    pub fn hold_after_events(mut self, events: usize, gate: &Gate) -> Self {
        self.delivery.holds.push((events, gate.clone()));
        self
    }

    /// Breaks the connection after this many events. Replaces any other ending.
    #[must_use]
    pub fn disconnect_after_events(self, events: usize) -> Self {
        self.ending(Ending::CutAfterEvents(events))
    }

    /// Breaks the connection after this many bytes of the body. Replaces any other ending.
    #[must_use]
    pub fn disconnect_after_bytes(self, bytes: usize) -> Self {
        self.ending(Ending::CutAfterBytes(bytes))
    }

    /// Falls silent after this many events and never closes the connection. Replaces any other
    /// ending.
    #[must_use]
    pub fn half_open_after_events(self, events: usize) -> Self {
        self.ending(Ending::HangAfterEvents(events))
    }

    /// Sends an `error` event after this many events and ends there. Replaces any other ending.
    #[must_use]
    pub fn error_after_events(self, events: usize, kind: &str, message: &str) -> Self {
        let error = json!({ "type": "error", "error": { "type": kind, "message": message } });
        self.ending(Ending::ErrorAfterEvents(events, error))
    }

    /// Sends text of the test's choice after this many events, such as malformed events.
    #[must_use]
    pub fn raw_after_events(mut self, events: usize, text: impl Into<String>) -> Self {
        self.delivery.insertions.push((events, text.into()));
        self
    }

    /// Says nothing for this long after this many events, then goes on.
    #[must_use]
    pub fn pause_after_events(mut self, events: usize, pause: Duration) -> Self {
        self.delivery.pauses.push((events, pause));
        self
    }

    /// Sends the body in pieces of this many bytes with a pause after each.
    #[must_use]
    pub fn slow(mut self, bytes: usize, pause: Duration) -> Self {
        self.delivery.pace = Some(Pace { bytes: bytes.max(1), pause });
        self
    }

    /// Says that the request this answers does not continue the one before it, and why; the
    /// prefix check then leaves the pair out.
    #[must_use]
    pub fn moves_prefix(mut self, reason: impl Into<String>) -> Self {
        self.moves_prefix = Some(reason.into());
        self
    }

    fn ending(mut self, ending: Ending) -> Self {
        self.delivery.ending = ending;
        self
    }
}
