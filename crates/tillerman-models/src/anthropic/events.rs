//! What the events of a streamed answer mean.

use serde_json::Value;
use tillerman_protocol::model::ModelEvent;
use tillerman_protocol::stream::StreamEvent;

use crate::event_reader::stream_failure;
use crate::http_failure::ErrorReport;
use crate::sse::SseEvent;

/// Events whose shape is known; one that does not have it is damage, not news.
const KNOWN: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
];

/// What an event means; nothing for an event without content.
pub(super) fn translate(event: &SseEvent) -> Option<ModelEvent> {
    if event.event == "error" {
        return Some(failed(&event.data));
    }
    if event.data.trim().is_empty() {
        return None;
    }
    Some(match serde_json::from_str(&event.data) {
        Ok(StreamEvent::Other(value)) => unrecognized(event, value),
        Ok(known) => ModelEvent::Stream(known),
        Err(_) => damaged("is not JSON"),
    })
}

fn unrecognized(event: &SseEvent, mut value: Value) -> ModelEvent {
    // Some gateways name an event only outside its data.
    if let Value::Object(fields) = &mut value
        && !fields.contains_key("type")
        && !event.event.is_empty()
    {
        fields.insert("type".to_owned(), event.event.as_str().into());
        value = match serde_json::from_value(value) {
            Ok(StreamEvent::Other(value)) => value,
            Ok(known) => return ModelEvent::Stream(known),
            Err(_) => return damaged("cannot be read"),
        };
    }
    match value.get("type").and_then(Value::as_str) {
        Some("error") => failed(&event.data),
        Some(known) if KNOWN.contains(&known) => damaged("lacks a required field"),
        _ => ModelEvent::Stream(StreamEvent::Other(value)),
    }
}

fn failed(data: &str) -> ModelEvent {
    ModelEvent::Failed(ErrorReport::parse(data.as_bytes()).into_failure())
}

fn damaged(how: &str) -> ModelEvent {
    ModelEvent::Failed(stream_failure(format!(
        "the response holds an event that {how}, so the rest of it was given up"
    )))
}
