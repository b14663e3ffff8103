//! The conversation as a model sees it: roles alternate, every call is answered, and nothing is
//! rewritten but by compaction.

use std::collections::HashSet;
use std::sync::Arc;

use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};

use crate::keepsakes::Keepsakes;
use crate::meter;

/// What stands where an old output was.
pub(crate) const CLEARED: &str =
    "[This output was cleared to make room. Run the tool again if you need it.]";
/// How texts begin that remind the model of what holds beside the conversation.
const REMINDER: &str = "<system-reminder>";
/// Clearing less than this is not worth it.
const WORTH_CLEARING: u64 = 100;

/// Messages in order. Between compactions it only grows, so consecutive requests share a prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    messages: Vec<Arc<Message>>,
    /// Where in the last message the response begins that is still coming in. A response that
    /// goes on after a pause begins behind what was said before it.
    open_from: Option<usize>,
    calls: HashSet<ToolUseId>,
    /// What earlier compactions carried over.
    kept: Keepsakes,
    /// How many of the first blocks a compaction left.
    left: usize,
}

impl Conversation {
    /// The messages for a request.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Whether a call of this id was made before.
    #[must_use]
    pub fn has_call(&self, id: &ToolUseId) -> bool {
        self.calls.contains(id)
    }

    /// Whether the newest words are a model's that has the provider work on something. Only those
    /// may be sent back as they are, to be gone on with.
    #[must_use]
    pub fn has_work_elsewhere(&self) -> bool {
        let newest = self.messages.last().filter(|message| message.role == Role::Assistant);
        let is_work = |block: &Block| match block {
            Block::Other(value) => {
                let kind = value.get("type").and_then(serde_json::Value::as_str);
                kind.is_some_and(|kind| kind.ends_with("_tool_use"))
            }
            _ => false,
        };
        newest.is_some_and(|message| match &message.content {
            Content::Blocks(blocks) => blocks.iter().any(is_work),
            Content::Text(_) => false,
        })
    }

    /// Adds what a user says; joins the message before it if that is a user's too.
    pub fn say(&mut self, blocks: Vec<Block>) {
        self.seal();
        if !blocks.is_empty() {
            self.extend(Role::User, blocks);
        }
    }

    /// Adds a block of the response that is coming in.
    pub fn hear(&mut self, block: Block) {
        if !Self::can_be_sent(&block) {
            return;
        }
        if let Block::ToolUse { id, .. } = &block {
            self.calls.insert(id.clone());
        }
        if self.open_from.is_none() {
            let last = self.messages.last().filter(|last| last.role == Role::Assistant);
            self.open_from = Some(last.map_or(0, |last| blocks(last).len()));
        }
        self.extend(Role::Assistant, vec![block]);
    }

    /// Ends the response that is coming in. One that holds nothing but thoughts is dropped, since
    /// a provider refuses it as the only content of a message.
    pub fn seal(&mut self) {
        let substantial = self.is_answering();
        match self.open_from.take() {
            Some(0) if !substantial => {
                self.messages.pop();
            }
            Some(from) if !substantial => self.shorten_last(from),
            _ => {}
        }
    }

    /// Whether the response that is coming in holds more than thoughts already.
    #[must_use]
    pub fn is_answering(&self) -> bool {
        let is_thought = |block: &Block| {
            matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
        };
        let open = self.messages.last().zip(self.open_from);
        open.is_some_and(|(message, from)| !blocks(message).iter().skip(from).all(is_thought))
    }

    /// Answers the calls of the last response, in the order in which they were made. A call that
    /// has no result here is answered with `missing`.
    pub fn answer(&mut self, mut results: Vec<ToolResult>, missing: &str) {
        self.seal();
        let answers: Vec<Block> = self
            .unanswered()
            .into_iter()
            .map(|id| {
                let found = results.iter().position(|result| result.tool_use_id == id);
                Block::ToolResult(match found {
                    Some(index) => results.swap_remove(index),
                    None => ToolResult {
                        tool_use_id: id,
                        content: Content::Text(missing.to_owned()),
                        is_error: true,
                    },
                })
            })
            .collect();
        if !answers.is_empty() {
            self.push(Role::User, answers);
        }
    }

    /// The calls of the last message that wait for an answer.
    #[must_use]
    pub fn unanswered(&self) -> Vec<ToolUseId> {
        let last = self.messages.last().filter(|message| message.role == Role::Assistant);
        last.map_or_else(Vec::new, |message| {
            blocks(message)
                .iter()
                .filter_map(|block| match block {
                    Block::ToolUse { id, .. } => Some(id.clone()),
                    _ => None,
                })
                .collect()
        })
    }

    /// Whether the user had the last word.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        self.messages.last().is_some_and(|message| message.role == Role::User)
    }

    /// Whether the model has said anything.
    pub(crate) fn has_answers(&self) -> bool {
        self.messages.iter().any(|message| message.role == Role::Assistant)
    }

    /// What the model was reminded of before the first prompt, such as memory.
    pub(crate) fn reminders(&self) -> &[Block] {
        let first = self.messages.first().map_or(&[][..], |message| blocks(message));
        let is_reminder =
            |block: &Block| block.as_text().is_some_and(|text| text.starts_with(REMINDER));
        let count = first.iter().take_while(|block| is_reminder(block)).count();
        &first[..count]
    }

    /// What would be carried over a compaction now.
    pub(crate) fn keepsakes(&self) -> Keepsakes {
        self.kept.collect(&self.messages)
    }

    /// Begins anew with what a compaction left. Ids of calls stay taken, since the transcript
    /// still knows them.
    pub(crate) fn begin_anew(&mut self, blocks: Vec<Block>, kept: Keepsakes) {
        self.messages.clear();
        self.open_from = None;
        (self.kept, self.left) = (kept, blocks.len());
        self.say(blocks);
    }

    /// The messages without what the newest compaction left, and without reminders.
    pub(crate) fn since_compaction(&self) -> Vec<Arc<Message>> {
        let mut messages = self.messages.clone();
        let known = self.left.max(self.reminders().len());
        if let Some(first) = messages.first_mut().filter(|_| known > 0)
            && let Content::Blocks(blocks) = &mut Arc::make_mut(first).content
        {
            blocks.drain(..known.min(blocks.len()));
        }
        messages.retain(|message| !blocks(message).is_empty());
        messages
    }

    /// The calls whose outputs are worth clearing, all but the newest, with the tokens it saves.
    pub(crate) fn clearable(&self, keep_newest: usize) -> Vec<(ToolUseId, u64)> {
        let all = self.messages.iter().flat_map(|message| blocks(message));
        let outputs: Vec<&ToolResult> = all.filter_map(output).collect();
        let old = outputs.len().saturating_sub(keep_newest);
        let saved = |result: &&ToolResult| {
            let tokens = meter::of_content(&result.content);
            let saved = tokens.saturating_sub(meter::tokens(CLEARED.len()));
            (saved >= WORTH_CLEARING).then(|| (result.tool_use_id.clone(), saved))
        };
        outputs[..old].iter().filter_map(saved).collect()
    }

    /// Clears the outputs of these calls.
    pub(crate) fn clear_outputs(&mut self, calls: &HashSet<ToolUseId>) {
        let holds = |message: &Message| {
            let mut results = blocks(message).iter().filter_map(output);
            results.any(|result| calls.contains(&result.tool_use_id))
        };
        for message in self.messages.iter_mut().filter(|message| holds(message)) {
            let Content::Blocks(blocks) = &mut Arc::make_mut(message).content else { continue };
            for block in blocks {
                if let Block::ToolResult(result) = block
                    && calls.contains(&result.tool_use_id)
                {
                    result.content = Content::Text(CLEARED.to_owned());
                }
            }
        }
    }

    fn can_be_sent(block: &Block) -> bool {
        match block {
            // Reasoning without a signature comes from providers that do not want it back.
            Block::Thinking { signature, .. } => !signature.is_empty(),
            block => !block.is_blank(),
        }
    }

    fn extend(&mut self, role: Role, more: Vec<Block>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role => {
                if let Content::Blocks(blocks) = &mut Arc::make_mut(last).content {
                    blocks.extend(more);
                }
            }
            _ => self.push(role, more),
        }
    }

    /// Forgets the last message.
    pub(crate) fn drop_last(&mut self) {
        self.messages.pop();
    }

    fn shorten_last(&mut self, length: usize) {
        if let Some(last) = self.messages.last_mut()
            && let Content::Blocks(blocks) = &mut Arc::make_mut(last).content
        {
            blocks.truncate(length);
        }
    }

    fn push(&mut self, role: Role, blocks: Vec<Block>) {
        self.messages.push(Arc::new(Message { role, content: Content::Blocks(blocks) }));
    }
}

const fn output(block: &Block) -> Option<&ToolResult> {
    match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    }
}

/// The blocks of a message.
pub(crate) fn blocks(message: &Message) -> &[Block] {
    match &message.content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => &[],
    }
}

/// The API refuses blank text, also inside results.
pub(crate) fn never_blank(content: Content) -> Content {
    match content {
        content if content.is_blank() => Content::Text("(no output)".to_owned()),
        Content::Blocks(_) => Content::Blocks(content.into_blocks()),
        Content::Text(_) => content,
    }
}

/// Removes what no user can say: a provider refuses results of calls that nobody made, and from
/// then on the whole conversation. Says whether there was any.
pub(crate) fn remove_forgeries(content: &mut Content) -> bool {
    let Content::Blocks(blocks) = content else { return false };
    let before = blocks.len();
    blocks.retain(|block| {
        !matches!(
            block,
            Block::ToolUse { .. }
                | Block::ToolResult(_)
                | Block::Thinking { .. }
                | Block::RedactedThinking { .. }
        )
    });
    blocks.len() < before
}
