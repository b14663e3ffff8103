//! A session as spans: rounds, the requests to models and the calls of tools below them.

use std::collections::HashMap;

use tillerman_ports::{Observed, ObservedAgent, Observer};
use tillerman_protocol::frame::ResultFrame;
use tillerman_protocol::model::{ModelEvent, ModelRequest};
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::tool::ToolOutcome;
use tillerman_protocol::{Moment, SessionId, ToolUseId};

use crate::content;
use crate::export::Telemetry;
use crate::response::Response;
use crate::settings::Capture;
use crate::span::{Kind, Place, Span};

/// The kind of failure of work that nobody wanted any more.
const CANCELLED: &str = "cancelled";
const PROVIDER: &str = "gen_ai.provider.name";
const MODEL: &str = "gen_ai.request.model";

/// What is known about a session before it does anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The session.
    pub session: SessionId,
    /// The agent that works in it, where it has a name.
    pub agent: Option<ObservedAgent>,
}

/// Makes spans of what a session does.
#[derive(Debug)]
pub(crate) struct Watch {
    telemetry: Telemetry,
    about: About,
    above: Option<Place>,
    round: Option<Span>,
    responses: HashMap<u64, Response>,
    calls: HashMap<u64, (ToolUseId, Span)>,
    /// When something happened last, which is when whatever is cut off ended.
    last: Moment,
}

impl Watch {
    pub(crate) fn new(telemetry: Telemetry, about: About, above: Option<Place>) -> Self {
        Self {
            telemetry,
            about,
            above,
            round: None,
            responses: HashMap::new(),
            calls: HashMap::new(),
            last: Moment::from_millis(0),
        }
    }

    fn captures(&self) -> bool {
        self.telemetry.capture() == Capture::Content
    }

    /// A span below the round, or below whatever the session stands below.
    fn begin(&self, operation: &str, name: Option<&str>, kind: Kind, at: Moment) -> Span {
        let above = self.round.as_ref().map(|round| round.place).or(self.above);
        let whole = name.map(|name| format!("{operation} {name}"));
        let whole = whole.unwrap_or_else(|| operation.to_owned());
        let mut span = Span::begin(above, whole, kind, at);
        span.set("gen_ai.operation.name", operation);
        span.set("gen_ai.conversation.id", self.about.session.as_str());
        span
    }

    fn end(&self, mut span: Span, at: Moment) {
        span.end = at;
        self.telemetry.put(span);
    }

    fn start_round(&mut self, at: Moment) {
        if self.round.is_some() {
            return;
        }
        let agent = self.about.agent.as_ref();
        let name = agent.map(|agent| agent.kind.as_str()).filter(|name| !name.is_empty());
        let mut span = self.begin("invoke_agent", name, Kind::Internal, at);
        if let Some(agent) = agent {
            span.set("gen_ai.agent.name", agent.kind.as_str());
            span.set("gen_ai.agent.id", agent.id.as_str());
        }
        self.round = Some(span);
    }

    fn end_round(&mut self, at: Moment, result: &ResultFrame) {
        self.cut_off(at);
        let Some(mut round) = self.round.take() else { return };
        let usage = &result.usage;
        round.set("gen_ai.usage.input_tokens", usage.input_total());
        round.set("gen_ai.usage.output_tokens", usage.output_tokens);
        round.set("tillerman.turns", u64::from(result.num_turns));
        round.set("tillerman.session.cost_usd", crate::span::Value::Amount(result.total_cost_usd));
        round.set("tillerman.terminal_reason", result.terminal_reason.as_str());
        if result.is_error {
            let status = result.api_error_status.map(|status| status.to_string());
            round.fail(status.as_deref().unwrap_or(&result.terminal_reason), "");
        }
        self.end(round, at);
    }

    fn ask(&mut self, at: Moment, response: u64, request: &ModelRequest) {
        let mut span = self.begin("chat", Some(&request.model), Kind::Client, at);
        span.set(PROVIDER, provider(&request.model));
        span.set(MODEL, request.model.as_str());
        span.set("gen_ai.request.max_tokens", request.max_tokens);
        if self.captures() {
            span.set("gen_ai.system_instructions", content::instructions(request));
            span.set("gen_ai.input.messages", content::input(request));
        }
        self.responses.insert(response, Response::new(span, self.telemetry.capture()));
        // A round is known by the model that is asked first.
        if let Some(round) = &mut self.round
            && !round.has(PROVIDER)
        {
            round.set(PROVIDER, provider(&request.model));
            round.set(MODEL, request.model.as_str());
        }
    }

    fn hear_model(&mut self, at: Moment, response: u64, event: &ModelEvent) {
        match event {
            ModelEvent::Accepted { .. } => {}
            ModelEvent::Stream(StreamEvent::MessageStop) => {
                if let Some(response) = self.responses.remove(&response) {
                    self.end(response.done(), at);
                }
            }
            ModelEvent::Stream(event) => {
                if let Some(response) = self.responses.get_mut(&response) {
                    response.hear(event);
                }
            }
            ModelEvent::Failed(failure) => {
                if let Some(response) = self.responses.remove(&response) {
                    let status = failure.status.map(|status| status.to_string());
                    let kind = status.as_deref().unwrap_or(failure.kind.name());
                    self.end(response.failed(kind), at);
                }
            }
        }
    }

    fn start_call(&mut self, at: Moment, call: u64, started: Started<'_>) {
        let Started { tool_use_id, name, input } = started;
        let mut span = self.begin("execute_tool", Some(name), Kind::Internal, at);
        span.set("gen_ai.tool.name", name);
        span.set("gen_ai.tool.call.id", tool_use_id.as_str());
        let kind = if name.starts_with("mcp__") { "extension" } else { "function" };
        span.set("gen_ai.tool.type", kind);
        if self.captures() {
            span.set("gen_ai.tool.call.arguments", content::cut(input.to_string()));
        }
        self.calls.insert(call, (tool_use_id.clone(), span));
    }

    fn end_call(&mut self, at: Moment, call: u64, outcome: &ToolOutcome) {
        let Some((_, mut span)) = self.calls.remove(&call) else { return };
        if self.captures() {
            span.set("gen_ai.tool.call.result", content::result(outcome));
        }
        if outcome.is_err() {
            span.fail("tool_error", "");
        }
        self.end(span, at);
    }

    /// Ends whatever is still open below the round.
    fn cut_off(&mut self, at: Moment) {
        let responses = std::mem::take(&mut self.responses);
        for response in responses.into_values() {
            self.end(response.failed(CANCELLED), at);
        }
        for (_, mut span) in std::mem::take(&mut self.calls).into_values() {
            span.fail(CANCELLED, "");
            self.end(span, at);
        }
    }
}

/// A call that has begun.
#[derive(Clone, Copy)]
struct Started<'a> {
    tool_use_id: &'a ToolUseId,
    name: &'a str,
    input: &'a serde_json::Value,
}

impl Observer for Watch {
    fn note(&mut self, at: Moment, event: Observed<'_>) {
        self.last = at;
        match event {
            Observed::RoundStarted => self.start_round(at),
            Observed::ModelAsked { response, request } => self.ask(at, response, request),
            Observed::ModelReported { response, event } => self.hear_model(at, response, event),
            Observed::ModelCancelled { response } => {
                if let Some(response) = self.responses.remove(&response) {
                    self.end(response.failed(CANCELLED), at);
                }
            }
            Observed::CallStarted { call, tool_use_id, name, input } => {
                self.start_call(at, call, Started { tool_use_id, name, input });
            }
            Observed::CallEnded { call, outcome } => self.end_call(at, call, outcome),
            Observed::CallCancelled { call } => {
                if let Some((_, mut span)) = self.calls.remove(&call) {
                    span.fail(CANCELLED, "");
                    self.end(span, at);
                }
            }
            Observed::StartedOver { session } => self.about.session = session.clone(),
            Observed::RoundEnded { result } => self.end_round(at, result),
        }
    }

    fn below(&self, call: &ToolUseId, agent: &ObservedAgent) -> Box<dyn Observer> {
        let calls = &mut self.calls.values();
        let caller = calls.find(|(id, _)| id == call).map(|(_, span)| span.place);
        let round = || self.round.as_ref().map(|round| round.place);
        let about = About { session: self.about.session.clone(), agent: Some(agent.clone()) };
        let above = caller.or_else(round).or(self.above);
        Box::new(Self::new(self.telemetry.clone(), about, above))
    }
}

/// The session is over; what was open was cut off.
impl Drop for Watch {
    fn drop(&mut self) {
        self.cut_off(self.last);
        if let Some(mut round) = self.round.take() {
            round.fail(CANCELLED, "");
            self.end(round, self.last);
        }
    }
}

/// Who answers for a model, as the conventions call them.
fn provider(model: &str) -> &str {
    match model.split_once(':') {
        Some((provider, _)) => provider,
        None if model == "rehearsal" => "tillerman.rehearsal",
        None => "anthropic",
    }
}
