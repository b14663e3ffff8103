//! What holds after every step of every session, whatever its transcript is about.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use tillerman_engine::{Activity, Effect, Input, Session, restore};
use tillerman_protocol::content::{Block, Content, Message, Role};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::model::ModelEvent;
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, ToolUseId};

/// The books that are kept about a session while its transcript is played.
#[derive(Debug, Default)]
pub(super) struct Audit {
    entries: Vec<Entry>,
    stored: HashSet<EntryId>,
    /// Work that was started and neither reported back nor was cancelled.
    open_work: BTreeSet<String>,
    /// Tasks in the background; while there are any, a timer may run at rest.
    tasks: usize,
    calls_shown: HashSet<ToolUseId>,
    results_shown: HashSet<ToolUseId>,
    /// Whether the model may have the last word of a request, because it paused.
    paused: bool,
}

impl Audit {
    /// Everything appended so far: what a restarted session finds.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The process ended; whatever ran ended with it.
    pub(super) fn restart(&mut self) {
        self.open_work.clear();
    }

    pub(super) fn heard(&mut self, input: &Input) {
        let done = match input {
            Input::ModelReported { response, event } => {
                if let ModelEvent::Stream(StreamEvent::MessageDelta { delta, .. }) = event {
                    self.paused |= delta.stop_reason.as_deref() == Some("pause_turn");
                }
                let last = matches!(
                    event,
                    ModelEvent::Failed(_) | ModelEvent::Stream(StreamEvent::MessageStop)
                );
                if last { format!("{response:?}") } else { String::new() }
            }
            Input::HooksAnswered { run, .. } => format!("{run:?}"),
            Input::PermissionAnswered { ask, .. } => format!("{ask:?}"),
            Input::ToolEnded { call, .. } => format!("{call:?}"),
            Input::TimerFired { timer } => format!("{timer:?}"),
            Input::TaskStarted(_) => {
                self.tasks += 1;
                return;
            }
            Input::TaskEnded { .. } => {
                self.tasks -= 1;
                return;
            }
            _ => return,
        };
        self.open_work.remove(&done);
    }

    pub(super) fn wanted(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Append(entry) => self.appended(entry),
                Effect::Emit(frame) => self.emitted(frame),
                // What comes from now on is another transcript.
                Effect::StartOver { .. } => self.entries.clear(),
                Effect::CallModel { response, request } => {
                    check_messages(&request.messages, self.paused);
                    let last = request.messages.last().map(|message| message.role);
                    self.paused &= last == Some(Role::Assistant);
                    self.started(&format!("{response:?}"));
                }
                Effect::RunHooks { run, .. } => self.started(&format!("{run:?}")),
                Effect::AskPermission { ask, .. } => self.started(&format!("{ask:?}")),
                Effect::StartTimer { timer, .. } => self.started(&format!("{timer:?}")),
                Effect::RunTool { call, tool_use_id, .. } => {
                    assert!(self.calls_shown.contains(tool_use_id), "{tool_use_id} runs unseen");
                    assert!(!self.results_shown.contains(tool_use_id), "{tool_use_id} runs again");
                    self.started(&format!("{call:?}"));
                }
                Effect::CancelModel { response } => self.cancelled(&format!("{response:?}")),
                Effect::CancelHooks { run } => self.cancelled(&format!("{run:?}")),
                Effect::CancelAsk { ask } => self.cancelled(&format!("{ask:?}")),
                Effect::CancelTool { call } => self.cancelled(&format!("{call:?}")),
                Effect::CancelTimer { timer } => self.cancelled(&format!("{timer:?}")),
                _ => {}
            }
        }
    }

    /// A session that rests or ended has nothing running, and its transcript says the same as its
    /// memory.
    pub(super) fn rested(&self, session: &Session) {
        if session.activity() != Activity::Running && self.tasks == 0 {
            assert!(self.open_work.is_empty(), "still open at rest: {:?}", self.open_work);
        }
        if session.activity() == Activity::Idle {
            let restored = restore(&self.entries);
            let (stored, held) = (restored.conversation.messages(), session.conversation());
            assert_eq!(stored, held.messages(), "the transcript tells another conversation");
            assert_eq!(&restored.ledger, session.ledger(), "the transcript tells other costs");
        }
    }

    fn started(&mut self, work: &str) {
        assert!(self.open_work.insert(work.to_owned()), "{work} was started twice");
    }

    fn cancelled(&mut self, work: &str) {
        // A response that makes no sense is cancelled by the very report that ended it.
        let known = self.open_work.remove(work) || work.starts_with("ResponseId");
        assert!(known, "{work} was cancelled without being open");
    }

    fn appended(&mut self, entry: &Entry) {
        if let Some(link) = entry.link() {
            if let Some(parent) = &link.parent_uuid {
                assert!(self.stored.contains(parent), "an entry hangs in the air: {entry:?}");
            }
            assert!(self.stored.insert(link.uuid.clone()), "stored twice: {entry:?}");
        }
        self.entries.push(entry.clone());
    }

    fn emitted(&mut self, frame: &Frame) {
        match frame {
            Frame::Assistant(frame) => {
                assert!(self.stored.contains(&frame.uuid), "shown before stored: {frame:?}");
                for block in &frame.message.content {
                    if let Block::ToolUse { id, .. } = block {
                        assert!(self.calls_shown.insert(id.clone()), "call {id} shown twice");
                    }
                }
            }
            Frame::User(frame) => {
                let stored = frame.uuid.as_ref().is_some_and(|uuid| self.stored.contains(uuid));
                assert!(stored, "shown before stored: {frame:?}");
                for id in results(&frame.message) {
                    assert!(self.calls_shown.contains(&id), "result of unknown call {id}");
                    assert!(self.results_shown.insert(id.clone()), "call {id} closed twice");
                }
            }
            _ => {}
        }
    }
}

/// What every provider demands of a request.
fn check_messages(messages: &[Arc<Message>], paused: bool) {
    assert_eq!(messages.first().map(|first| first.role), Some(Role::User), "{messages:?}");
    let answerable = messages.last().is_some_and(|last| last.role == Role::User);
    assert!(answerable || paused, "the model has the last word: {messages:?}");
    for message in messages {
        check_texts(&message.content);
    }
    for pair in messages.windows(2) {
        assert_ne!(pair[0].role, pair[1].role, "roles do not alternate: {messages:?}");
        assert_eq!(calls(&pair[0]), results(&pair[1]), "calls and results differ: {pair:?}");
    }
    for message in messages {
        let blocks = blocks(message);
        let first_other = blocks.iter().position(|block| !matches!(block, Block::ToolResult(_)));
        let after = &blocks[first_other.unwrap_or(blocks.len())..];
        let late = after.iter().any(|block| matches!(block, Block::ToolResult(_)));
        assert!(!late, "a result comes after something else: {message:?}");
    }
}

fn check_texts(content: &Content) {
    assert!(!content.is_blank(), "nothing is said");
    let Content::Blocks(blocks) = content else { return };
    for block in blocks {
        assert!(!block.is_blank(), "blank text: {content:?}");
        if let Block::ToolResult(result) = block {
            check_texts(&result.content);
        }
    }
}

fn calls(message: &Message) -> Vec<ToolUseId> {
    let id = |block: &Block| match block {
        Block::ToolUse { id, .. } => Some(id.clone()),
        _ => None,
    };
    blocks(message).iter().filter_map(id).collect()
}

fn results(message: &Message) -> Vec<ToolUseId> {
    let id = |block: &Block| match block {
        Block::ToolResult(result) => Some(result.tool_use_id.clone()),
        _ => None,
    };
    blocks(message).iter().filter_map(id).collect()
}

fn blocks(message: &Message) -> &[Block] {
    match &message.content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => &[],
    }
}
