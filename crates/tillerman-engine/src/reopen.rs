//! Calls of an earlier run that were never decided about: taken up again where they stopped.

use std::collections::HashSet;

use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, ToolResult};

use crate::calls::CallState;
use crate::replay::OUTCOME_UNKNOWN;
use crate::round::{Round, Stage};
use crate::session::Session;

impl Session {
    /// The calls among these that can be taken up again: their answer is not stored, and nothing
    /// was said since.
    #[must_use]
    pub fn reopenable(&self, calls: &[ToolUseId]) -> Vec<ToolUseId> {
        let is_orphan = |id: &&ToolUseId| self.chain.orphans.iter().any(|(held, _)| held == *id);
        match self.round {
            None => calls.iter().filter(is_orphan).cloned().collect(),
            Some(_) => Vec::new(),
        }
    }

    /// Notes which calls are to be taken up before the next round.
    pub(crate) fn reopen(&mut self, calls: &[ToolUseId]) {
        self.chain.reopened = self.reopenable(calls).into_iter().collect();
    }

    /// Goes on with the round that an earlier run began. Calls that nobody vouches for may have
    /// run, and are answered as unknown.
    pub(crate) fn start_reopened(&mut self) {
        let reopened = std::mem::take(&mut self.chain.reopened);
        let Some((calls, results)) = self.conversation.take_back_answers() else { return };
        let orphans = std::mem::take(&mut self.chain.orphans);
        self.chain.deferred.clear();
        let model = self.model_for(&[]);
        self.round = Some(Box::new(Round::new(self.now, model)));
        self.set_stage(Stage::Working);
        self.emit_running();
        self.emit_init();
        for block in calls {
            let Block::ToolUse { id, name, input } = block else { continue };
            let entry = orphans.iter().find(|(held, _)| *held == id).map(|(_, entry)| entry);
            let stored = results.iter().find(|result| result.tool_use_id == id);
            match (entry, stored) {
                (Some(entry), _) => {
                    let (entry, is_wanted) = (entry.clone(), reopened.contains(&id));
                    let call = self.open_call(id, name, input, entry);
                    if !is_wanted {
                        self.refuse_call(call, OUTCOME_UNKNOWN);
                    }
                }
                (None, Some(result)) => self.add_settled(result.clone(), name, input),
                (None, None) => {}
            }
        }
        self.start_calls();
        self.end_turn_if_settled();
    }

    /// Adds a call whose result is stored already.
    fn add_settled(&mut self, result: ToolResult, name: String, input: serde_json::Value) {
        let entry = self.ids.entry_id();
        let call = self.open_call(result.tool_use_id.clone(), name, input, entry);
        self.set_call(call, CallState::Closed(Box::new(result)));
    }
}

impl crate::conversation::Conversation {
    /// Takes back the answers at the end, if there is nothing else at the end, and returns them
    /// with the calls they belong to.
    fn take_back_answers(&mut self) -> Option<(Vec<Block>, Vec<ToolResult>)> {
        let results = self.last_answers()?;
        let ids: HashSet<&ToolUseId> = results.iter().map(|result| &result.tool_use_id).collect();
        let calls = self.calls_before_last(&ids);
        self.drop_last();
        Some((calls, results))
    }

    fn last_answers(&self) -> Option<Vec<ToolResult>> {
        let last = self.messages().last()?;
        let Content::Blocks(blocks) = &last.content else { return None };
        let result = |block: &Block| match block {
            Block::ToolResult(result) => Some(result.clone()),
            _ => None,
        };
        blocks.iter().map(result).collect()
    }

    fn calls_before_last(&self, ids: &HashSet<&ToolUseId>) -> Vec<Block> {
        let messages = self.messages();
        let before = messages.len().checked_sub(2).and_then(|place| messages.get(place));
        let blocks = before.map(|message| crate::conversation::blocks(message));
        let is_call =
            |block: &&Block| matches!(block, Block::ToolUse { id, .. } if ids.contains(id));
        blocks.into_iter().flatten().filter(is_call).cloned().collect()
    }
}
