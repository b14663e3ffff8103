//! Checks of every request: its messages are valid, extend the last ones, and stay within limits.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tillerman_engine::{Effect, Input, Limits};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, Message, Role};
use tillerman_protocol::frame::{Frame, SystemDetail};
use tillerman_protocol::model::{ModelEvent, ModelRequest, SystemBlock};
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::tool::ToolSpec;
use tillerman_protocol::transcript::Entry;

use super::fault::{Checked, Fault, ensure};

/// How every request for a summary begins.
const SUMMARY_WANTED: &str = "This conversation is about to be compacted.";

/// Whether the last message of a request may be the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    User,
    AnyRole,
}

/// Watches the requests of a session.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: Vec<Arc<Message>>,
    /// The newest response failed or was cancelled.
    failed: bool,
    stop_reason: Option<String>,
    turns: u32,
    repetitions: usize,
    compacting: Option<Compacting>,
    /// What stands before the messages of every request.
    head: Option<(Vec<SystemBlock>, Arc<[ToolSpec]>)>,
}

/// A compaction under way, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compacting {
    /// It makes room for a request that was not made yet.
    BeforeRequest,
    /// It makes room because a request was too long; that one is made again.
    AfterOverflow,
}

impl Requests {
    pub(super) fn hear(&mut self, input: &Input) {
        let Input::ModelReported { event, .. } = input else { return };
        match event {
            ModelEvent::Failed(_) => self.failed = true,
            ModelEvent::Stream(StreamEvent::MessageDelta { delta, .. }) => {
                self.stop_reason = delta.stop_reason.clone().or_else(|| self.stop_reason.take());
                // The next model is asked the same, which is no turn of its own.
                self.failed |= self.stop_reason.as_deref() == Some("refusal");
            }
            _ => {}
        }
    }

    pub(super) fn see(&mut self, effect: &Effect, limits: &Limits, models: usize) -> Checked {
        match effect {
            Effect::CancelModel { .. } => self.failed = true,
            Effect::Emit(frame) => self.show(frame),
            Effect::Append(entry) => {
                // From here on the conversation is another one.
                let begins_anew = match &**entry {
                    Entry::User(entry) => entry.is_compact_summary == Some(true),
                    Entry::System(entry) => entry.subtype == "microcompact_boundary",
                    _ => false,
                };
                if begins_anew {
                    self.last.clear();
                }
            }
            Effect::CallModel { request, .. } if self.asks_for_summary(request) => {
                self.failed = false;
                check_messages(&request.messages, Tail::User)?;
                // A conversation that is told as text shares nothing with what was asked before.
                if request.messages.len() > 1 {
                    check_prefix(&self.last, &request.messages)?;
                }
            }
            Effect::CallModel { request, .. } => {
                let head = (request.system.clone(), Arc::clone(&request.tools));
                let before = self.head.get_or_insert_with(|| head.clone());
                ensure(*before == head, "prefix-is-kept", || "system or tools".to_owned())?;
                let messages = &request.messages;
                let same = *messages == self.last;
                let again = self.compacting.take() == Some(Compacting::AfterOverflow);
                if again {
                    self.repetitions = 0;
                } else if self.failed && same {
                    self.repetitions += 1;
                    let most = (limits.max_retries as usize + 1) * models - 1;
                    ensure(self.repetitions <= most, "repetitions-are-limited", || {
                        format!("{} repetitions, {most} allowed", self.repetitions)
                    })?;
                } else {
                    (self.turns, self.repetitions) = (self.turns + 1, 0);
                    let most = limits.max_turns.unwrap_or(u32::MAX);
                    ensure(self.turns <= most, "turns-are-limited", || {
                        format!("request {} of the round, {most} allowed", self.turns)
                    })?;
                }
                let paused = self.stop_reason.as_deref() == Some("pause_turn");
                check_messages(messages, if same || paused { Tail::AnyRole } else { Tail::User })?;
                check_prefix(&self.last, messages)?;
                self.last.clone_from(messages);
                (self.failed, self.stop_reason) = (false, None);
            }
            _ => {}
        }
        Ok(())
    }

    fn show(&mut self, frame: &Frame) {
        match frame {
            Frame::Result(_) => (self.turns, self.compacting) = (0, None),
            Frame::System(frame) => {
                if let SystemDetail::Status { status: Some(status), .. } = &frame.detail
                    && status == "compacting"
                {
                    let after = [Compacting::BeforeRequest, Compacting::AfterOverflow];
                    self.compacting = Some(after[usize::from(self.failed)]);
                }
            }
            _ => {}
        }
    }

    /// Whether a request is for a summary; it is no turn, but it shares the prefix.
    fn asks_for_summary(&self, request: &ModelRequest) -> bool {
        let last = request.messages.last().and_then(|message| blocks(message).last());
        let text = last.and_then(Block::as_text).unwrap_or_default();
        self.compacting.is_some() && text.starts_with(SUMMARY_WANTED)
    }

    /// The process died; what the transcript yields must go on from the newest request.
    pub(super) fn crash(&mut self, restored: &[Arc<Message>]) -> Checked {
        (self.turns, self.repetitions, self.stop_reason) = (0, 0, None);
        (self.failed, self.compacting) = (false, None);
        check_messages(restored, Tail::AnyRole)?;
        check_prefix(&self.last, restored)
    }
}

/// Whether `next` only adds to `last`: all messages but the last are equal, the last may be longer.
pub(super) fn check_prefix(last: &[Arc<Message>], next: &[Arc<Message>]) -> Checked {
    let Some((tail, head)) = last.split_last() else { return Ok(()) };
    let differs = |at: usize| Err(Fault { check: "prefix-is-kept", detail: format!("at {at}") });
    let same = |a: &Arc<Message>, b: &Arc<Message>| Arc::ptr_eq(a, b) || a == b;
    for (at, message) in head.iter().enumerate() {
        if !next.get(at).is_some_and(|other| same(message, other)) {
            return differs(at);
        }
    }
    match next.get(head.len()) {
        Some(other) if other.role == tail.role && blocks(other).starts_with(blocks(tail)) => Ok(()),
        _ => differs(head.len()),
    }
}

/// Whether a provider would take these messages.
pub(super) fn check_messages(messages: &[Arc<Message>], tail: Tail) -> Checked {
    let mut seen: HashSet<&ToolUseId> = HashSet::new();
    let mut open: Vec<&ToolUseId> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { Role::User } else { Role::Assistant };
        ensure(message.role == expected, "roles-alternate", || {
            format!("message {at} is of {:?}", message.role)
        })?;
        ensure(!blocks(message).is_empty(), "messages-are-not-empty", || format!("message {at}"))?;
        check_answers(message, at, &open)?;
        open.clear();
        for block in blocks(message) {
            check_block(block, message.role, at)?;
            if let Block::ToolUse { id, .. } = block {
                ensure(seen.insert(id), "call-ids-are-unique", || format!("{id} in {at}"))?;
                open.push(id);
            }
        }
    }
    ensure(open.is_empty(), "calls-are-answered", || format!("{open:?} at the end"))?;
    let last = messages.last().map(|message| message.role);
    ensure(tail == Tail::AnyRole || last == Some(Role::User), "last-message-is-the-users", || {
        format!("the last message is of {last:?}")
    })
}

/// The first blocks of the message after a response answer exactly its calls, in any order.
fn check_answers(message: &Message, at: usize, open: &[&ToolUseId]) -> Checked {
    let answer = |block: &Block| match block {
        Block::ToolResult(result) => Some(result.tool_use_id.clone()),
        _ => None,
    };
    let answers: Vec<ToolUseId> = blocks(message).iter().map_while(answer).collect();
    let all = blocks(message).iter().filter_map(answer).count();
    ensure(answers.len() == all, "results-come-first", || format!("in message {at}"))?;
    let given: HashSet<&ToolUseId> = answers.iter().collect();
    let exact = answers.len() == open.len() && open.iter().all(|id| given.contains(id));
    ensure(exact, "calls-are-answered", || {
        format!("message {at} answers {answers:?}, open were {open:?}")
    })
}

fn check_block(block: &Block, role: Role, at: usize) -> Checked {
    let from_model = role == Role::Assistant;
    match block {
        Block::Text { text, .. } => check_text(text, at),
        Block::Thinking { signature, .. } => {
            ensure(from_model && !signature.is_empty(), "thoughts-are-signed", || {
                format!("in message {at}")
            })
        }
        Block::ToolUse { input, .. } => {
            ensure(from_model && input.is_object(), "call-input", || {
                format!("{input} in message {at}")
            })
        }
        Block::ToolResult(result) => match &result.content {
            Content::Text(text) => check_text(text, at),
            Content::Blocks(inner) => {
                ensure(!inner.is_empty(), "results-are-not-empty", || format!("message {at}"))?;
                inner.iter().try_for_each(|block| check_block(block, Role::User, at))
            }
        },
        Block::Other(value) => {
            let kind = value.get("type").and_then(Value::as_str);
            let known = ["text", "thinking", "tool_use", "tool_result"];
            let fine = kind.is_some_and(|kind| !known.contains(&kind));
            ensure(fine, "unknown-blocks-are-blocks", || format!("{value} in message {at}"))
        }
        Block::RedactedThinking { .. } | Block::Image { .. } => Ok(()),
    }
}

fn check_text(text: &str, at: usize) -> Checked {
    ensure(!text.trim().is_empty(), "text-is-not-blank", || format!("in message {at}"))
}

pub(super) fn blocks(message: &Message) -> &[Block] {
    match &message.content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => &[],
    }
}
