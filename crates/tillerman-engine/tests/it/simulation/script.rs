//! What the simulated model says: good answers, bad answers, and streams that make no sense.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::stream::{Delta, MessageHead, MessageOutcome, StreamEvent, Usage};

use super::dice::Dice;

/// Makes scripts; every text and id it invents is its own, unless a fault wants otherwise.
#[derive(Debug, Default)]
pub(super) struct Writer {
    serial: u64,
    used_calls: Vec<String>,
    /// The id of every response, for providers that do not tell them apart.
    constant_id: Option<&'static str>,
}

impl Writer {
    pub(super) fn new(seed: u64) -> Self {
        let constant_id = match seed % 16 {
            2 => Some(""),
            5 => Some("msg_same"),
            _ => None,
        };
        Self { constant_id, ..Self::default() }
    }

    fn start(&mut self, usage: Usage) -> StreamEvent {
        let number = self.number();
        start(self.constant_id.map_or_else(|| format!("msg_{number}"), str::to_owned), usage)
    }

    pub(super) const fn number(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// A call that the model made, or one that nobody made.
    pub(super) fn some_call(&self, dice: &mut Dice) -> ToolUseId {
        match self.used_calls.is_empty() || dice.chance(30) {
            true => "toolu_unknown".into(),
            false => ToolUseId::new(dice.pick(&self.used_calls)),
        }
    }

    /// An answer that ends the round: one text.
    pub(super) fn plain(&mut self) -> VecDeque<ModelEvent> {
        let mut events = vec![self.start(Usage::default())];
        let text = format!("closing words {}", self.number());
        events.extend(text_block(0, &text, &mut Dice::new(0)));
        events.extend(ending(Some("end_turn"), Usage::default()));
        events.into_iter().map(ModelEvent::Stream).collect()
    }

    /// Anything a provider may send, in any state of disrepair.
    pub(super) fn response(&mut self, dice: &mut Dice) -> VecDeque<ModelEvent> {
        if dice.chance(12) {
            return VecDeque::from([ModelEvent::Failed(failure(dice))]);
        }
        let mut events = vec![self.start(usage(dice))];
        let mut calls = false;
        let blocks = dice.below(5);
        let mut index = 0;
        for _ in 0..blocks {
            let (block, is_call) = self.block(dice, index);
            events.extend(block);
            calls |= is_call;
            index += if dice.chance(5) { 2 } else { 1 };
            if dice.chance(10) {
                events.push(StreamEvent::Ping);
            }
        }
        let reason = match dice.below(100) {
            0..8 => Some("max_tokens"),
            8..12 => Some("refusal"),
            12..18 => Some("pause_turn"),
            18..21 => Some("stop_sequence"),
            21..24 => None,
            _ if calls => Some("tool_use"),
            _ => Some("end_turn"),
        };
        if !dice.chance(3) {
            events.extend(ending(reason, usage(dice)));
        } else {
            events.push(StreamEvent::MessageStop);
        }
        self.damage(dice, events)
    }

    fn damage(&self, dice: &mut Dice, mut events: Vec<StreamEvent>) -> VecDeque<ModelEvent> {
        if dice.chance(5) {
            let place = dice.index(events.len() + 1);
            events.insert(place, nonsense(dice));
        }
        let mut script: VecDeque<ModelEvent> = VecDeque::new();
        if dice.chance(80) {
            let request_id = dice.chance(80).then(|| format!("req_{}", self.serial));
            script.push_back(ModelEvent::Accepted { request_id });
        }
        script.extend(events.into_iter().map(ModelEvent::Stream));
        match dice.below(100) {
            0..12 => {
                script.truncate(dice.index(script.len()));
                script.push_back(ModelEvent::Failed(failure(dice)));
            }
            // Falls silent for ever.
            12..14 => script.truncate(dice.index(script.len())),
            _ => {}
        }
        script
    }

    fn block(&mut self, dice: &mut Dice, index: u32) -> (Vec<StreamEvent>, bool) {
        let number = self.number();
        match dice.below(100) {
            0..38 => (text_block(index, &format!("words {number}"), dice), false),
            38..43 => (text_block(index, dice.pick(&["", " ", "\n"]), dice), false),
            43..53 => (thinking_block(index, number, true), false),
            53..56 => (thinking_block(index, number, false), false),
            56..59 => {
                let block = json!({"type": "redacted_thinking", "data": format!("d{number}")});
                (whole_block(index, block), false)
            }
            59..62 => {
                let block = json!({"type": "server_tool_use", "id": format!("srv_{number}"),
                    "name": "web_search", "input": {}});
                (whole_block(index, block), false)
            }
            62..63 => {
                let block = json!({"type": "tool_use", "name": "Look", "input": {}});
                (whole_block(index, block), false)
            }
            _ => (self.call_block(index, dice), true),
        }
    }

    fn call_block(&mut self, index: u32, dice: &mut Dice) -> Vec<StreamEvent> {
        let id = if !self.used_calls.is_empty() && dice.chance(4) {
            dice.pick(&self.used_calls)
        } else {
            format!("toolu_{}", self.number())
        };
        self.used_calls.push(id.clone());
        let name = dice.pick(&["Look", "Look", "Peek", "Write", "Write", "Nope"]);
        let number = self.number();
        let input = match dice.below(100) {
            0..6 => format!("{{\"n\": {number}"),
            6..9 => "[1, 2]".to_owned(),
            9..12 => "null".to_owned(),
            12..16 => String::new(),
            16..22 => format!("{{\"ratio\": {}.{}e-3}}", dice.below(1000), dice.next()),
            _ => format!("{{\"n\": {number}, \"path\": \"a b\"}}"),
        };
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let mut events = vec![opening(index, block)];
        for piece in halves(&input, dice) {
            events.push(growth(index, Delta::InputJsonDelta { partial_json: piece }));
        }
        events.push(StreamEvent::ContentBlockStop { index });
        events
    }
}

/// A failure of any kind, with any advice.
pub(super) fn failure(dice: &mut Dice) -> ModelFailure {
    use FailureKind::{
        Authentication, Billing, Connection, InvalidRequest, ModelUnavailable, Overloaded,
        RateLimit, Server, Stream, Tls, TooLong,
    };
    let kind = dice.pick(&[
        Authentication,
        Billing,
        RateLimit,
        Overloaded,
        InvalidRequest,
        TooLong,
        ModelUnavailable,
        Server,
        Connection,
        Tls,
        Stream,
        Overloaded,
        Stream,
    ]);
    let mut failure = ModelFailure::new(kind, "the simulated provider failed");
    failure.status = dice.pick(&[None, Some(400), Some(429), Some(529)]);
    failure.retry_after_ms = dice.pick(&[None, None, Some(0), Some(1500), Some(u64::MAX)]);
    failure.should_retry = dice.pick(&[None, None, None, Some(true), Some(false)]);
    failure
}

fn usage(dice: &mut Dice) -> Usage {
    if dice.chance(30) {
        // Near the truth, or nothing at all from providers that do not count.
        let input_tokens = dice.below(3_000);
        return dice.pick(&[Usage::default(), Usage { input_tokens, ..Usage::default() }]);
    }
    Usage {
        input_tokens: dice.below(20_000),
        cache_creation_input_tokens: dice.below(2_000),
        cache_read_input_tokens: dice.below(50_000),
        output_tokens: dice.below(3_000),
        ..Usage::default()
    }
}

fn start(id: String, usage: Usage) -> StreamEvent {
    let model = "sim-answers".to_owned();
    StreamEvent::MessageStart { message: MessageHead { id, model, usage, ..Default::default() } }
}

fn ending(reason: Option<&str>, usage: Usage) -> [StreamEvent; 2] {
    let stop_reason = reason.map(str::to_owned);
    let delta = MessageOutcome { stop_reason, ..MessageOutcome::default() };
    [StreamEvent::MessageDelta { delta, usage }, StreamEvent::MessageStop]
}

fn opening(index: u32, content_block: Value) -> StreamEvent {
    StreamEvent::ContentBlockStart { index, content_block }
}

const fn growth(index: u32, delta: Delta) -> StreamEvent {
    StreamEvent::ContentBlockDelta { index, delta }
}

fn whole_block(index: u32, block: Value) -> Vec<StreamEvent> {
    vec![opening(index, block), StreamEvent::ContentBlockStop { index }]
}

fn text_block(index: u32, text: &str, dice: &mut Dice) -> Vec<StreamEvent> {
    let mut events = vec![opening(index, json!({"type": "text", "text": ""}))];
    for piece in halves(text, dice) {
        events.push(growth(index, Delta::TextDelta { text: piece }));
    }
    events.push(StreamEvent::ContentBlockStop { index });
    events
}

fn thinking_block(index: u32, number: u64, signed: bool) -> Vec<StreamEvent> {
    let block = json!({"type": "thinking", "thinking": "", "signature": ""});
    let thinking = format!("thought {number}");
    let mut events = vec![opening(index, block), growth(index, Delta::ThinkingDelta { thinking })];
    if signed {
        let signature = format!("sig{number}");
        events.push(growth(index, Delta::SignatureDelta { signature }));
    }
    events.push(StreamEvent::ContentBlockStop { index });
    events
}

fn halves(text: &str, dice: &mut Dice) -> Vec<String> {
    if text.len() < 2 || dice.chance(60) {
        return vec![text.to_owned()];
    }
    let (first, second) = text.split_at(1 + dice.index(text.len() - 1));
    vec![first.to_owned(), second.to_owned()]
}

/// An event that cannot stand where it is put, or that nobody knows.
fn nonsense(dice: &mut Dice) -> StreamEvent {
    match dice.below(7) {
        0 => start("msg_astray".to_owned(), Usage::default()),
        1 => StreamEvent::ContentBlockStop { index: 77 },
        2 => growth(78, Delta::TextDelta { text: "astray".to_owned() }),
        3 => StreamEvent::MessageStop,
        4 => opening(0, json!({"type": "text", "text": "again"})),
        5 => growth(0, Delta::SignatureDelta { signature: "wrong kind".to_owned() }),
        _ => StreamEvent::Other(json!({"type": "news"})),
    }
}
