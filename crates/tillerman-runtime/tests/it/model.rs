//! A model that plays scripts: one per request, in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};
use tillerman_protocol::stream::StreamEvent;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// What happens next in a response.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Event(Value),
    Fail(ModelFailure),
    /// Waits until the gate is opened.
    Gate(Gate),
    /// Says nothing more, for ever.
    Hang,
    Panic,
    /// Panics before there is a stream at all.
    PanicAtOnce,
}

/// Holds a response back until it is opened.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<Semaphore>);

impl Gate {
    pub(crate) fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub(crate) fn open(&self) {
        self.0.add_permits(1);
    }

    pub(crate) async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// One response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: Vec<Step>,
    blocks: usize,
    calls: bool,
    by_helper: bool,
}

pub(crate) fn script() -> Script {
    let message = json!({"id": "msg_1", "model": "test-model", "role": "assistant",
        "usage": {"input_tokens": 10, "output_tokens": 1}});
    let start = Step::Event(json!({"type": "message_start", "message": message}));
    Script { steps: vec![start], ..Script::default() }
}

/// A response of one text.
pub(crate) fn says(text: &str) -> Script {
    script().text(text).done()
}

/// A response of one call.
pub(crate) fn calls(tool: &str, id: &str, input: &Value) -> Script {
    script().call(tool, id, input).done()
}

/// A response that fails before it begins.
pub(crate) fn fails(kind: FailureKind, status: Option<u16>) -> Script {
    let failure = ModelFailure { status, ..ModelFailure::new(kind, "no luck") };
    Script { steps: vec![Step::Fail(failure)], ..Script::default() }
}

/// A response of nothing but one step.
pub(crate) fn only(step: Step) -> Script {
    Script { steps: vec![step], ..Script::default() }
}

impl Script {
    pub(crate) fn text(self, text: &str) -> Self {
        self.block(
            &json!({"type": "text", "text": ""}),
            &json!({"type": "text_delta", "text": text}),
        )
    }

    pub(crate) fn call(mut self, tool: &str, id: &str, input: &Value) -> Self {
        self.calls = true;
        self.block(
            &json!({"type": "tool_use", "id": id, "name": tool, "input": {}}),
            &json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        )
    }

    /// Only the agent with the helper's prompt says this, whenever it asks.
    pub(crate) fn by_helper(mut self) -> Self {
        self.by_helper = true;
        self
    }

    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(crate) fn gate(self, gate: &Gate) -> Self {
        self.then(Step::Gate(gate.clone()))
    }

    pub(crate) fn done(mut self) -> Self {
        let reason = if self.calls { "tool_use" } else { "end_turn" };
        self.steps.push(Step::Event(json!({"type": "message_delta",
            "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}})));
        self.steps.push(Step::Event(json!({"type": "message_stop"})));
        self
    }

    fn block(mut self, start: &Value, delta: &Value) -> Self {
        let index = self.blocks;
        self.blocks += 1;
        let events = [
            json!({"type": "content_block_start", "index": index, "content_block": start}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ];
        self.steps.extend(events.into_iter().map(Step::Event));
        self
    }
}

/// The model, and what it was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedModel(Arc<Mutex<Played>>);

#[derive(Debug, Default)]
struct Played {
    scripts: VecDeque<Script>,
    requests: Vec<(Instant, ModelRequest)>,
}

impl ScriptedModel {
    pub(crate) fn playing(scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts = scripts.into_iter().collect();
        Self(Arc::new(Mutex::new(Played { scripts, requests: Vec::new() })))
    }

    /// Has it play further scripts.
    pub(crate) fn then_play(&self, scripts: impl IntoIterator<Item = Script>) {
        self.0.lock().unwrap().scripts.extend(scripts);
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.0.lock().unwrap().requests.iter().map(|(_, request)| request.clone()).collect()
    }

    pub(crate) fn asked_at(&self) -> Vec<Instant> {
        self.0.lock().unwrap().requests.iter().map(|(at, _)| *at).collect()
    }

    /// Everything the newest request says, as text to search in.
    pub(crate) fn heard(&self) -> String {
        let requests = self.requests();
        serde_json::to_string(&requests.last().unwrap().messages).unwrap()
    }
}

impl Model for ScriptedModel {
    fn respond(&self, request: ModelRequest) -> EventStream {
        let script = {
            let mut played = self.0.lock().unwrap();
            let of_helper = request.system.iter().any(|block| block.text.contains("the helper"));
            played.requests.push((Instant::now(), request));
            let own = played.scripts.iter().position(|script| script.by_helper && of_helper);
            let next = own.or_else(|| played.scripts.iter().position(|script| !script.by_helper));
            next.and_then(|next| played.scripts.remove(next))
                .unwrap_or_else(|| says("There is nothing left to say."))
        };
        if matches!(script.steps.first(), Some(Step::PanicAtOnce)) {
            panic!("the model was told to panic");
        }
        let steps = futures_util::stream::iter(script.steps);
        Box::pin(steps.filter_map(|step| async move {
            match step {
                Step::Event(event) => {
                    let event: StreamEvent = serde_json::from_value(event).unwrap();
                    Some(ModelEvent::Stream(event))
                }
                Step::Fail(failure) => Some(ModelEvent::Failed(failure)),
                Step::Gate(gate) => {
                    gate.pass().await;
                    None
                }
                Step::Hang => std::future::pending().await,
                Step::Panic | Step::PanicAtOnce => panic!("the model was told to panic"),
            }
        }))
    }

    fn count_tokens(&self, _: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        Box::pin(async { Ok(0) })
    }
}
