//! The responses of a scripted model: from short clauses to the events of a stream.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::stream::{Delta, MessageHead, MessageOutcome, StreamEvent, Usage};

use super::notation::Words;

/// Which model answers each response and how many blocks it has so far.
#[derive(Debug, Default)]
pub(super) struct Streams {
    models: HashMap<String, String>,
    blocks: HashMap<String, u32>,
}

impl Streams {
    /// Notes which model was asked for a response.
    pub(super) fn requested(&mut self, name: &str, model: &str) {
        self.models.insert(name.to_owned(), model.to_owned());
    }

    /// The events one clause stands for.
    pub(super) fn events(&mut self, name: &str, mut words: Words) -> Vec<ModelEvent> {
        let verb = words.word();
        let events = match verb.as_str() {
            "accepted" => {
                let request_id = Some(words.word());
                vec![ModelEvent::Accepted { request_id }]
            }
            "fail" => vec![ModelEvent::Failed(failure(&mut words))],
            "start" => stream([self.start(name, &mut words)]),
            "ping" => stream([StreamEvent::Ping]),
            "stop" => stream([StreamEvent::MessageStop]),
            "outcome" => stream([outcome(&mut words)]),
            "end" => stream([outcome(&mut words), StreamEvent::MessageStop]),
            "open" => stream([open(&mut words)]),
            "grow" => stream([grow(&mut words)]),
            "shut" => stream([StreamEvent::ContentBlockStop { index: words.number() }]),
            _ => self.block(name, &verb, &mut words),
        };
        words.end();
        events
    }

    fn start(&self, name: &str, words: &mut Words) -> StreamEvent {
        let model = self.models.get(name).cloned().unwrap_or_default();
        let id = format!("msg_{name}");
        let message = MessageHead { id, model, usage: usage(words), extra: Map::new() };
        StreamEvent::MessageStart { message }
    }

    /// A whole block: start, one delta, stop.
    fn block(&mut self, name: &str, verb: &str, words: &mut Words) -> Vec<ModelEvent> {
        let next = self.blocks.entry(name.to_owned()).or_default();
        let index = *next;
        *next += 1;
        let (content_block, deltas) = match verb {
            "text" => (json!({"type": "text", "text": ""}), vec![text(words.text())]),
            "think" => {
                let signature = Delta::SignatureDelta { signature: format!("sig_{index}") };
                let signature = (!words.flag("unsigned")).then_some(signature);
                let thinking = Delta::ThinkingDelta { thinking: words.text() };
                let deltas = std::iter::once(thinking).chain(signature).collect();
                (json!({"type": "thinking", "thinking": ""}), deltas)
            }
            "tool" => {
                let start = call_start(words);
                let partial_json = words.maybe_text().unwrap_or_else(|| words.json().to_string());
                (start, vec![Delta::InputJsonDelta { partial_json }])
            }
            other => words.misread(other),
        };
        let start = StreamEvent::ContentBlockStart { index, content_block };
        let deltas =
            deltas.into_iter().map(move |delta| StreamEvent::ContentBlockDelta { index, delta });
        let stop = StreamEvent::ContentBlockStop { index };
        stream(std::iter::once(start).chain(deltas).chain([stop]))
    }
}

fn stream(events: impl IntoIterator<Item = StreamEvent>) -> Vec<ModelEvent> {
    events.into_iter().map(ModelEvent::Stream).collect()
}

const fn text(text: String) -> Delta {
    Delta::TextDelta { text }
}

fn call_start(words: &mut Words) -> Value {
    let (id, name) = (words.word(), words.word());
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn open(words: &mut Words) -> StreamEvent {
    let index = words.number();
    let content_block = match words.maybe_json() {
        Some(block) => block,
        None => match words.word().as_str() {
            "text" => json!({"type": "text", "text": ""}),
            "thinking" => json!({"type": "thinking", "thinking": ""}),
            "tool" => call_start(words),
            other => words.misread(other),
        },
    };
    StreamEvent::ContentBlockStart { index, content_block }
}

fn grow(words: &mut Words) -> StreamEvent {
    let index = words.number();
    let delta = match words.maybe_word().as_deref() {
        None => text(words.text()),
        Some("json") => Delta::InputJsonDelta { partial_json: words.text() },
        Some("thinking") => Delta::ThinkingDelta { thinking: words.text() },
        Some(other) => words.misread(other),
    };
    StreamEvent::ContentBlockDelta { index, delta }
}

fn outcome(words: &mut Words) -> StreamEvent {
    let usage = usage(words);
    let stop_reason = words.maybe_word();
    let delta = MessageOutcome { stop_reason, ..MessageOutcome::default() };
    StreamEvent::MessageDelta { delta, usage }
}

fn usage(words: &mut Words) -> Usage {
    let mut tokens = |key| words.option(key).map_or(0, |count| count.parse().expect("a count"));
    Usage { input_tokens: tokens("in"), output_tokens: tokens("out"), ..Usage::default() }
}

fn failure(words: &mut Words) -> ModelFailure {
    let kind = words.word();
    let kind = match kind.as_str() {
        "authentication" => FailureKind::Authentication,
        "rate-limit" => FailureKind::RateLimit,
        "overloaded" => FailureKind::Overloaded,
        "invalid" => FailureKind::InvalidRequest,
        "too-long" => FailureKind::TooLong,
        "unavailable" => FailureKind::ModelUnavailable,
        "server" => FailureKind::Server,
        "connection" => FailureKind::Connection,
        "stream" => FailureKind::Stream,
        other => words.misread(other),
    };
    let retry_after = words.option("retry-after");
    let should_retry = words.option("should-retry").map(|answer| answer == "true");
    let status = words.maybe_word().map(|status| status.parse().expect("a status"));
    ModelFailure {
        kind,
        status,
        message: words.text(),
        retry_after_ms: retry_after.map(|millis| millis.parse().expect("milliseconds")),
        should_retry,
    }
}
