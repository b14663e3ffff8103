//! A collector, a sender, and a session that tests play.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tillerman_ports::{Observed, ObservedAgent, Observer};
use tillerman_protocol::content::{Content, Message, Role};
use tillerman_protocol::frame::ResultFrame;
use tillerman_protocol::model::{ModelEvent, ModelRequest, SystemBlock, Thinking};
use tillerman_protocol::{Moment, SessionId, ToolUseId};
use tillerman_telemetry::{About, Telemetry, TelemetrySettings, start};
use tillerman_testkit::{CollectedSpan, TraceCollector};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The longest any wait takes before the test fails.
const DEADLINE: Duration = Duration::from_secs(20);

/// Settings from these variables.
pub(crate) fn read(variables: &[(&str, &str)]) -> Option<TelemetrySettings> {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let variable = |name: &str| variables.get(name).map(|value| (*value).to_owned());
    TelemetrySettings::read(variable, "1.2.3").unwrap()
}

/// A sender that is at work.
pub(crate) struct Sender {
    pub(crate) telemetry: Telemetry,
    stop: CancellationToken,
    sending: JoinSet<()>,
}

impl Sender {
    pub(crate) fn start(collector: &TraceCollector, more: &[(&str, &str)]) -> Self {
        let url = collector.url();
        let usual = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ];
        let all: Vec<(&str, &str)> = usual.into_iter().chain(more.iter().copied()).collect();
        Self::with(read(&all).unwrap())
    }

    pub(crate) fn with(settings: TelemetrySettings) -> Self {
        let (telemetry, exporter) = start(settings);
        let stop = CancellationToken::new();
        let mut sending = JoinSet::new();
        sending.spawn(exporter.run(stop.clone()));
        Self { telemetry, stop, sending }
    }

    pub(crate) fn session(&self) -> Session {
        let about = About { session: SessionId::new("s1"), agent: None };
        Session { observer: self.telemetry.observer(about), now: 1_000 }
    }

    /// Sends everything.
    pub(crate) async fn finish(mut self) {
        self.stop.cancel();
        let ended = tokio::time::timeout(DEADLINE, self.sending.join_next()).await;
        ended.expect("the sender ends").unwrap().unwrap();
    }
}

/// A session that a test plays; every event takes a millisecond.
pub(crate) struct Session {
    observer: Box<dyn Observer>,
    now: i64,
}

impl Session {
    pub(crate) fn note(&mut self, event: Observed<'_>) {
        self.now += 1;
        self.observer.note(Moment::from_millis(self.now), event);
    }

    /// An agent that this call starts.
    pub(crate) fn below(&self, call: &str, agent: &ObservedAgent) -> Self {
        Self { observer: self.observer.below(&ToolUseId::new(call), agent), now: self.now }
    }

    /// A request and a whole answer.
    pub(crate) fn chat(&mut self, response: u64, stop_reason: &str) {
        self.note(Observed::ModelAsked { response, request: &request() });
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 5, "output_tokens": 1});
        let head = json!({"id": "msg_1", "model": "model-in-fact", "usage": usage});
        let outcome = json!({"stop_reason": stop_reason});
        for event in [
            json!({"type": "message_start", "message": head}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": "the answer"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": outcome, "usage": {"output_tokens": 7}}),
            json!({"type": "message_stop"}),
        ] {
            let event = ModelEvent::Stream(serde_json::from_value(event).unwrap());
            self.note(Observed::ModelReported { response, event: &event });
        }
    }

    pub(crate) fn start_call(&mut self, call: u64, id: &str, name: &str) {
        let (tool_use_id, input) = (ToolUseId::new(id), json!({"command": "the input"}));
        self.note(Observed::CallStarted { call, tool_use_id: &tool_use_id, name, input: &input });
    }

    pub(crate) fn end_round(&mut self, more: &serde_json::Value) {
        let mut frame = json!({"subtype": "success", "is_error": false, "duration_ms": 1,
            "duration_api_ms": 1, "num_turns": 2, "session_id": "s1", "uuid": "r",
            "terminal_reason": "completed", "usage": {"input_tokens": 10, "output_tokens": 5}});
        let fields = frame.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let result: ResultFrame = serde_json::from_value(frame).unwrap();
        self.note(Observed::RoundEnded { result: &result });
    }
}

pub(crate) fn request() -> ModelRequest {
    let message = Message { role: Role::User, content: Content::Text("the prompt".to_owned()) };
    ModelRequest {
        model: "model-x".to_owned(),
        system: vec![SystemBlock { text: "the system prompt".to_owned() }],
        messages: vec![Arc::new(message)],
        tools: Arc::new([]),
        max_tokens: 100,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        session: "s1".to_owned(),
        extra_body: serde_json::Map::new(),
    }
}

/// The only span of this name.
pub(crate) fn only<'a>(spans: &'a [CollectedSpan], name: &str) -> &'a CollectedSpan {
    let mut found = spans.iter().filter(|span| span.name == name);
    let first = found.next().unwrap_or_else(|| panic!("no {name} in {spans:#?}"));
    assert!(found.next().is_none(), "more than one {name} in {spans:#?}");
    first
}
