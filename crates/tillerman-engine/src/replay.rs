//! From transcript entries back to the state of a session.

use std::collections::HashSet;

use tillerman_protocol::content::{Block, ToolResult};
use tillerman_protocol::frame::AssistantMessage;
use tillerman_protocol::transcript::{AssistantEntry, Entry, SystemEntry, UserEntry};
use tillerman_protocol::{EntryId, ToolUseId};

use crate::boundaries::{CLEARED_OUTPUTS, COMPACTED, cleared_calls};
use crate::conversation::{Conversation, never_blank};
use crate::keepsakes::Keepsakes;
use crate::ledger::Ledger;

/// What the model is told about a call whose outcome nobody stored.
pub(crate) const OUTCOME_UNKNOWN: &str = "The session ended before this call reported back. It may \
     or may not have taken effect; check before you repeat it.";

/// What a transcript says about a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restored {
    /// The conversation, with every call answered.
    pub conversation: Conversation,
    /// What was spent.
    pub ledger: Ledger,
    /// The last entry of the chain.
    pub tip: Option<EntryId>,
    /// Calls at the end of the chain whose answer is not stored yet, with the entry of the call.
    pub orphans: Vec<(ToolUseId, EntryId)>,
    /// Ids of the prompts; one that is sent again is not taken twice.
    pub prompts: HashSet<EntryId>,
}

/// Reads the entries of one chain, in file order.
#[must_use]
pub fn restore(entries: &[Entry]) -> Restored {
    let mut replay = Replay::default();
    for entry in entries {
        match entry {
            Entry::User(entry) => replay.user(entry),
            Entry::Assistant(entry) => replay.assistant(entry),
            Entry::System(entry) => replay.note(entry),
            Entry::CostState(state) => replay.restored.ledger = Ledger::from_state(state),
            _ => {}
        }
    }
    replay.finish()
}

#[derive(Default)]
struct Replay {
    restored: Restored,
    /// The provider's id of the response whose entries are being read.
    response: Option<String>,
    calls: Vec<(ToolUseId, EntryId)>,
    results: Vec<ToolResult>,
    /// A compaction whose summary has not been read yet.
    boundary: Option<EntryId>,
}

impl Replay {
    fn note(&mut self, entry: &SystemEntry) {
        match entry.subtype.as_str() {
            COMPACTED => self.boundary = Some(entry.link.uuid.clone()),
            CLEARED_OUTPUTS => {
                self.restored.tip = Some(entry.link.uuid.clone());
                self.flush();
                self.restored.conversation.clear_outputs(&cleared_calls(entry));
            }
            _ => {}
        }
    }

    fn user(&mut self, entry: &UserEntry) {
        self.restored.tip = Some(entry.link.uuid.clone());
        let blocks = entry.message.content.clone().into_blocks();
        let boundary = self.boundary.take();
        if boundary.is_some() && entry.link.parent_uuid == boundary {
            self.flush();
            let kept = Keepsakes::from_fields(&entry.extra);
            return self.restored.conversation.begin_anew(blocks, kept);
        }
        let (results, said): (Vec<Block>, Vec<Block>) =
            blocks.into_iter().partition(|block| matches!(block, Block::ToolResult(_)));
        for block in results {
            if let Block::ToolResult(result) = block {
                self.result(result);
            }
        }
        if !said.is_empty() {
            self.flush();
            self.restored.prompts.insert(entry.link.uuid.clone());
            self.restored.conversation.say(said);
        }
    }

    fn result(&mut self, mut result: ToolResult) {
        let known = self.calls.iter().any(|(id, _)| *id == result.tool_use_id);
        let repeated = self.results.iter().any(|held| held.tool_use_id == result.tool_use_id);
        if known && !repeated {
            result.content = never_blank(result.content);
            self.results.push(result);
        }
    }

    fn assistant(&mut self, entry: &AssistantEntry) {
        self.restored.tip = Some(entry.link.uuid.clone());
        if self.boundary.take().is_some_and(|uuid| entry.link.parent_uuid == Some(uuid)) {
            self.flush();
            self.restored.conversation.begin_anew(Vec::new(), Keepsakes::default());
        }
        let message = &entry.message;
        if entry.is_api_error_message == Some(true) || message.model == AssistantMessage::SYNTHETIC
        {
            return;
        }
        if self.response.as_ref() != Some(&message.id) {
            self.flush();
            self.response = Some(message.id.clone());
        }
        for block in &message.content {
            if let Block::ToolUse { id, .. } = block {
                if self.restored.conversation.has_call(id) {
                    continue;
                }
                self.calls.push((id.clone(), entry.link.uuid.clone()));
            }
            self.restored.conversation.hear(block.clone());
        }
    }

    fn flush(&mut self) {
        self.response = None;
        self.calls.clear();
        let results = std::mem::take(&mut self.results);
        self.restored.conversation.answer(results, OUTCOME_UNKNOWN);
    }

    fn finish(mut self) -> Restored {
        let answered = |id: &ToolUseId| self.results.iter().any(|result| result.tool_use_id == *id);
        self.restored.orphans =
            self.calls.iter().filter(|(id, _)| !answered(id)).cloned().collect();
        self.flush();
        self.restored
    }
}
