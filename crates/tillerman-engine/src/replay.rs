//! From transcript entries back to the state of a session.

use std::collections::HashSet;

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content, ToolResult};
use tillerman_protocol::frame::AssistantMessage;
use tillerman_protocol::transcript::{AssistantEntry, Entry, SystemEntry, UserEntry};
use tillerman_protocol::{EntryId, TaskId, ToolUseId};

use crate::boundaries::{CLEARED_OUTPUTS, COMPACTED, cleared_calls};
use crate::conversation::{Conversation, never_blank};
use crate::keepsakes::Keepsakes;
use crate::ledger::Ledger;

/// What the model is told about a call whose outcome nobody stored.
pub(crate) const OUTCOME_UNKNOWN: &str = "The session ended before this call reported back. It may \
     or may not have taken effect; check before you repeat it.";

/// What the model is told about a call that a hook put off.
pub(crate) const NEVER_RAN: &str = "A hook put this call off until later. It never ran and had no \
     effect; repeat it if it is still wanted.";

/// The subtype of the entry that names calls which were put off.
pub(crate) const DEFERRED: &str = "tool_deferred";

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
    /// Those of them that a hook put off, which never ran.
    pub deferred: HashSet<ToolUseId>,
    /// Ids of the prompts; one that is sent again is not taken twice.
    pub prompts: HashSet<EntryId>,
    /// Tasks that were under way when the transcript ended, as far as it tells.
    pub interrupted: Vec<Interrupted>,
}

/// A task of which nobody knows how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// The task.
    pub task: TaskId,
    /// One line about it.
    pub description: String,
}

impl Interrupted {
    /// What the model is told about such tasks.
    pub(crate) fn describe(tasks: &[Self]) -> String {
        let lines: Vec<String> =
            tasks.iter().map(|task| format!("- {} ({})", task.task, task.description)).collect();
        format!(
            "<task-notification>\nThe session ended while these background tasks were under way. \
             They were stopped and will not report; check what they did before you start them \
             again:\n{}\n</task-notification>",
            lines.join("\n")
        )
    }
}

/// The field of an entry that tells where it comes from.
pub(crate) const ORIGIN: &str = "origin";
/// The subtype of an entry that says that a task was stopped on request.
pub(crate) const TASK_STOPPED: &str = "task_stopped";
/// The field that names tasks.
pub(crate) const TASKS: &str = "taskIds";

/// The origin of an entry that tells how tasks ended.
pub(crate) fn origin_of(tasks: &[TaskId]) -> Value {
    json!({"kind": "task-notification", TASKS: tasks})
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
            TASK_STOPPED => {
                self.restored.tip = Some(entry.link.uuid.clone());
                self.forget_tasks(entry.extra.get(TASKS));
            }
            DEFERRED => {
                self.restored.tip = Some(entry.link.uuid.clone());
                self.deferred(entry);
            }
            _ => {}
        }
    }

    fn user(&mut self, entry: &UserEntry) {
        self.restored.tip = Some(entry.link.uuid.clone());
        self.restored.interrupted.extend(entry.tool_use_result.as_ref().and_then(launched));
        let origin = entry.extra.get(ORIGIN).and_then(|origin| origin.get(TASKS));
        self.forget_tasks(origin);
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

    fn forget_tasks(&mut self, tasks: Option<&Value>) {
        let named: Vec<&str> = tasks
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        self.restored.interrupted.retain(|held| !named.contains(&held.task.as_str()));
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

    fn deferred(&mut self, entry: &SystemEntry) {
        let ids = entry.extra.get("toolUseIds").and_then(Value::as_array).into_iter().flatten();
        self.restored.deferred.extend(ids.filter_map(Value::as_str).map(ToolUseId::new));
    }

    fn flush(&mut self) {
        self.response = None;
        let mut results = std::mem::take(&mut self.results);
        for (id, _) in std::mem::take(&mut self.calls) {
            let unanswered = !results.iter().any(|result| result.tool_use_id == id);
            if unanswered && self.restored.deferred.contains(&id) {
                results.push(never_ran(id));
            }
        }
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

/// The task that a call left behind, by its structured outcome.
fn launched(outcome: &Value) -> Option<Interrupted> {
    let text = |name: &str| outcome.get(name).and_then(Value::as_str);
    let agent = text("agentId").filter(|_| text("status") == Some("async_launched"));
    let watch = text("taskId").filter(|_| outcome.get("timeoutMs").is_some());
    let task = TaskId::new(agent.or(watch).or_else(|| text("backgroundTaskId"))?);
    let kind = match (agent, watch) {
        (Some(_), _) => "an agent",
        (None, Some(_)) => "a command that was watched",
        (None, None) => "a command",
    };
    let description = text("description").map_or_else(|| kind.to_owned(), str::to_owned);
    Some(Interrupted { task, description })
}

/// The answer to a call that a hook put off.
pub(crate) fn never_ran(tool_use_id: ToolUseId) -> ToolResult {
    ToolResult { tool_use_id, content: Content::Text(NEVER_RAN.to_owned()), is_error: true }
}
