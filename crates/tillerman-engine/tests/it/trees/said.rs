//! What the model of a simulated agent says: a text, calls, or a failure.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::stream::{Delta, MessageHead, MessageOutcome, StreamEvent, Usage};

/// What a response contains.
#[derive(Clone, Debug)]
pub(super) enum Say {
    Text(String),
    /// Calls by id, tool and input.
    Calls(Vec<(String, &'static str, Value)>),
    Failure,
}

/// A response as its events; it reads one token and writes so many.
pub(super) fn events(number: u64, say: &Say, output_tokens: u64) -> VecDeque<ModelEvent> {
    let usage = Usage { input_tokens: 1, ..Usage::default() };
    let message = MessageHead { id: format!("msg_{number}"), usage, ..MessageHead::default() };
    let mut events = vec![StreamEvent::MessageStart { message }];
    let reason = match say {
        Say::Text(text) => {
            let delta = Delta::TextDelta { text: text.clone() };
            events.extend(block(0, json!({"type": "text", "text": ""}), delta));
            "end_turn"
        }
        Say::Calls(calls) => {
            for (index, (id, tool, input)) in (0..).zip(calls) {
                let start = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
                let delta = Delta::InputJsonDelta { partial_json: input.to_string() };
                events.extend(block(index, start, delta));
            }
            "tool_use"
        }
        Say::Failure => {
            let failure = ModelFailure::new(FailureKind::InvalidRequest, "no luck");
            let mut events: VecDeque<_> = events.into_iter().map(ModelEvent::Stream).collect();
            events.push_back(ModelEvent::Failed(failure));
            return events;
        }
    };
    let delta =
        MessageOutcome { stop_reason: Some(reason.to_owned()), ..MessageOutcome::default() };
    let usage = Usage { output_tokens, ..Usage::default() };
    events.push(StreamEvent::MessageDelta { delta, usage });
    events.push(StreamEvent::MessageStop);
    events.into_iter().map(ModelEvent::Stream).collect()
}

fn block(index: u32, content_block: Value, delta: Delta) -> [StreamEvent; 3] {
    [
        StreamEvent::ContentBlockStart { index, content_block },
        StreamEvent::ContentBlockDelta { index, delta },
        StreamEvent::ContentBlockStop { index },
    ]
}
