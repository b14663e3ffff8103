//! What the model of a simulated agent says: a text, calls, or a failure.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::stream::{Delta, MessageHead, MessageOutcome, StreamEvent, Usage};

use super::node::MOST_OUTPUT;
use crate::simulation::dice::Dice;

/// What an agent so deep in the tree says next; those near the root start more agents.
pub(super) fn speech(dice: &mut Dice, number: u64, depth: u32) -> VecDeque<ModelEvent> {
    let tokens = dice.below(MOST_OUTPUT);
    let branches = if depth == 0 { 55 } else { 30 };
    let say = match dice.below(100) {
        0..5 => Say::Failure,
        5..15 => Say::Calls(vec![(format!("call_{number}"), "Look", json!({}))]),
        roll if roll < 15 + branches => {
            let count = 1 + dice.below(3);
            let call = |index| {
                let background = dice.chance(50);
                (format!("call_{number}_{index}"), "Agent", json!({"background": background}))
            };
            Say::Calls((0..count).map(call).collect())
        }
        _ => Say::Text(format!("words {number}")),
    };
    events(number, &say, tokens)
}

/// What a response contains.
#[derive(Clone, Debug)]
enum Say {
    Text(String),
    /// Calls by id, tool and input.
    Calls(Vec<(String, &'static str, Value)>),
    Failure,
}

/// A response as its events; it reads one token and writes so many.
fn events(number: u64, say: &Say, output_tokens: u64) -> VecDeque<ModelEvent> {
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
