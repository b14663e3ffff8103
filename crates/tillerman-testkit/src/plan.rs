//! Turns a response into the steps of its delivery: bytes, pauses, holds and breaks.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Bytes;
use serde_json::{Map, Value, json};
use tillerman_protocol::stream::Usage;

use crate::conversation::kind_of;
use crate::gate::Gate;
use crate::request::CapturedRequest;
use crate::response::{Delivery, Ending, Pace, Response};

const DELTA_CHARS: usize = 40;

/// One step of a delivery.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Hand these bytes to the connection.
    Send(Bytes),
    /// Wait this long.
    Pause(Duration),
    /// Wait for the test.
    Hold(Gate),
    /// Break the connection.
    Cut,
    /// Do nothing for ever.
    Hang,
}

/// The delivery of a response as an event stream.
pub(crate) fn stream(number: usize, request: &CapturedRequest, response: &Response) -> Vec<Step> {
    let items = match &response.raw_body {
        Some(raw) => vec![raw.clone()],
        None => {
            let events = events(number, request, response);
            events.iter().map(event_text).collect()
        }
    };
    steps(items, &response.delivery, event_text)
}

/// The delivery of a response as one JSON object, for requests that want no stream.
pub(crate) fn whole(number: usize, request: &CapturedRequest, response: &Response) -> Vec<Step> {
    let mut message = head(number, request, response);
    message["content"] = blocks(number, response).into();
    message["stop_reason"] = stop_reason(response).into();
    message["usage"] = json!(usage(response));
    let body = response.raw_body.clone().unwrap_or_else(|| message.to_string());
    steps(vec![body], &response.delivery, Value::to_string)
}

/// Lays out the items with everything that happens between them; position `k` is after `k` items.
fn steps(
    items: Vec<String>,
    delivery: &Delivery,
    error_text: impl Fn(&Value) -> String,
) -> Vec<Step> {
    let last = items.len();
    let mut items: VecDeque<String> = items.into();
    let mut steps = Vec::new();
    for position in 0..=last {
        let here = |events: usize| events.min(last) == position;
        let holds = delivery.holds.iter().filter(|(events, _)| here(*events));
        steps.extend(holds.map(|(_, gate)| Step::Hold(gate.clone())));
        let pauses = delivery.pauses.iter().filter(|(events, _)| here(*events));
        steps.extend(pauses.map(|(_, pause)| Step::Pause(*pause)));
        let insertions = delivery.insertions.iter().filter(|(events, _)| here(*events));
        steps.extend(insertions.map(|(_, text)| send(text)));
        match &delivery.ending {
            Ending::CutAfterEvents(events) if here(*events) => {
                steps.push(Step::Cut);
                break;
            }
            Ending::HangAfterEvents(events) if here(*events) => {
                steps.push(Step::Hang);
                break;
            }
            Ending::ErrorAfterEvents(events, error) if here(*events) => {
                steps.push(send(&error_text(error)));
                break;
            }
            _ => steps.extend(items.pop_front().map(|item| send(&item))),
        }
    }
    let steps = match delivery.ending {
        Ending::CutAfterBytes(bytes) => cut(steps, bytes),
        _ => steps,
    };
    delivery.pace.map_or_else(|| steps.clone(), |pace| slow(&steps, pace))
}

fn send(text: &str) -> Step {
    Step::Send(Bytes::copy_from_slice(text.as_bytes()))
}

/// Keeps the steps up to this many bytes and breaks the connection there.
fn cut(steps: Vec<Step>, bytes: usize) -> Vec<Step> {
    let mut left = bytes;
    let mut kept = Vec::new();
    for step in steps {
        match step {
            Step::Send(chunk) if chunk.len() >= left => {
                kept.push(Step::Send(chunk.slice(..left)));
                break;
            }
            Step::Send(chunk) => {
                left -= chunk.len();
                kept.push(Step::Send(chunk));
            }
            other => kept.push(other),
        }
    }
    kept.push(Step::Cut);
    kept
}

/// Splits every chunk into small pieces with a pause after each.
fn slow(steps: &[Step], pace: Pace) -> Vec<Step> {
    let mut slowed = Vec::new();
    for step in steps {
        let Step::Send(chunk) = step else {
            slowed.push(step.clone());
            continue;
        };
        for start in (0..chunk.len()).step_by(pace.bytes) {
            let end = chunk.len().min(start + pace.bytes);
            slowed.push(Step::Send(chunk.slice(start..end)));
            slowed.push(Step::Pause(pace.pause));
        }
    }
    slowed
}

fn event_text(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", kind_of(event))
}

fn events(number: usize, request: &CapturedRequest, response: &Response) -> Vec<Value> {
    let total = usage(response);
    let mut message = head(number, request, response);
    message["usage"] = json!(Usage { output_tokens: 1, ..total.clone() });
    let start = json!({ "type": "message_start", "message": message });
    let mut events = vec![start, json!({ "type": "ping" })];
    let chars = response.delta_chars.unwrap_or(DELTA_CHARS);
    for (index, block) in blocks(number, response).iter().enumerate() {
        let (opening, deltas) = block_events(block, chars);
        events.push(
            json!({ "type": "content_block_start", "index": index, "content_block": opening }),
        );
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": stop_reason(response), "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": total }));
    events.push(json!({ "type": "message_stop" }));
    events
}

/// The block as it begins, and what is added to it piece by piece.
fn block_events(block: &Value, chars: usize) -> (Value, Vec<Value>) {
    let mut opening = block.clone();
    let text = |key: &str| pieces(block[key].as_str().unwrap_or_default(), chars);
    let deltas = match kind_of(block) {
        "text" => {
            opening["text"] = "".into();
            let texts = text("text").into_iter();
            texts.map(|text| json!({ "type": "text_delta", "text": text })).collect()
        }
        "thinking" => {
            opening["thinking"] = "".into();
            opening["signature"] = "".into();
            let texts = text("thinking").into_iter();
            let signed = json!({ "type": "signature_delta", "signature": block["signature"] });
            texts
                .map(|text| json!({ "type": "thinking_delta", "thinking": text }))
                .chain([signed])
                .collect()
        }
        "tool_use" => {
            opening["input"] = Map::new().into();
            pieces(&block["input"].to_string(), chars)
                .into_iter()
                .map(|json| json!({ "type": "input_json_delta", "partial_json": json }))
                .collect()
        }
        _ => Vec::new(),
    };
    (opening, deltas)
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

fn head(number: usize, request: &CapturedRequest, response: &Response) -> Value {
    json!({
        "id": format!("msg_{number:04}"),
        "type": "message",
        "role": "assistant",
        "model": response.model.as_deref().unwrap_or_else(|| request.model()),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

/// The blocks, with ids for tool calls that have none: unique within the server and the same in
/// every run, so that they may appear in snapshots.
fn blocks(number: usize, response: &Response) -> Vec<Value> {
    let mut blocks = response.blocks.clone();
    for (index, block) in blocks.iter_mut().enumerate() {
        if kind_of(block) == "tool_use" && block["id"].is_null() {
            block["id"] = format!("toolu_{number:04}_{index}").into();
        }
    }
    blocks
}

fn stop_reason(response: &Response) -> String {
    let calls = response.blocks.iter().any(|block| kind_of(block) == "tool_use");
    let usual = if calls { "tool_use" } else { "end_turn" };
    response.stop_reason.clone().unwrap_or_else(|| usual.to_owned())
}

fn usage(response: &Response) -> Usage {
    let usual = || Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    response.usage.clone().unwrap_or_else(usual)
}
