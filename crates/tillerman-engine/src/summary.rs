//! What is asked of the model that summarises, and what a conversation begins with afterwards.

use std::sync::Arc;

use tillerman_protocol::content::{Block, Content, Message, Role};

use crate::conversation::Conversation;
use crate::keepsakes::{self, Keepsakes};
use crate::{meter, retelling};

const INSTRUCTION: &str = "\
This conversation is about to be compacted. Write a summary that replaces it: you will go on with \
nothing but the summary. Answer with the summary alone, as plain text, and call no tool. \
Be exact about names, paths, numbers and error messages, and leave out what no longer matters. \
Cover, under short headings:
1. Task: what the user wants, in their own words where they matter, with every limit they set.
2. Decisions: what was decided and why, and what was tried and given up.
3. Files: which files were read, written or changed, and what matters in each.
4. Problems: errors that came up and how they were solved, and what is still broken.
5. State: what is done, what is under way, and what was found out on the way.
6. Next: the step that comes next, and what is left after it.";

const BEGUN: &str = "\
The conversation so far was compacted to make room. This is a summary of it, written by you; go on \
from here without asking what has been answered already.";
const NO_SUMMARY: &str = "\
The conversation so far was compacted to make room, and no summary of it could be made. What \
follows is all that is left of it; look things up again where you need to.";

/// The most tokens that files and the newest exchanges are given in a large window.
const MOST_FOR_FILES: u64 = 25_000;
const MOST_FOR_EXCHANGES: u64 = 8_000;

/// The instruction, with what the person or hooks want to be kept.
pub(crate) fn instruction(wishes: &str) -> String {
    match wishes.trim() {
        "" => INSTRUCTION.to_owned(),
        wishes => format!("{INSTRUCTION}\n\nThe user wants this to be kept in mind: {wishes}"),
    }
}

/// The whole conversation with the instruction at its end, so that the provider's cache holds.
pub(crate) fn whole(conversation: &Conversation, wishes: &str) -> Vec<Arc<Message>> {
    let mut copy = conversation.clone();
    copy.say(vec![Block::text(instruction(wishes))]);
    copy.messages().to_vec()
}

/// The conversation told as one text of at most so many tokens, with the instruction before it.
pub(crate) fn retold(conversation: &Conversation, wishes: &str, room: u64) -> Vec<Arc<Message>> {
    let told = retelling::retell(conversation.messages(), room);
    let text = format!("{}\n\n<conversation>\n{told}\n</conversation>", instruction(wishes));
    let content = Content::Blocks(vec![Block::text(text)]);
    vec![Arc::new(Message { role: Role::User, content })]
}

/// What the new conversation is made of.
#[derive(Debug)]
pub(crate) struct Material<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) kept: &'a Keepsakes,
    /// What the model wrote; empty when it wrote nothing.
    pub(crate) summary: &'a str,
    /// What the person asked for in this round.
    pub(crate) asked: &'a [Block],
    /// Where the whole conversation can be looked up.
    pub(crate) transcript: &'a str,
    /// Tokens from which on it would have to be compacted again.
    pub(crate) threshold: u64,
}

/// The blocks that the conversation begins with from now on.
pub(crate) fn beginning(material: &Material<'_>) -> Vec<Block> {
    let messages = material.conversation.messages();
    let files = (material.threshold / 6).min(MOST_FOR_FILES);
    let exchanges = (material.threshold / 10).min(MOST_FOR_EXCHANGES);
    let mut texts = vec![match material.summary.trim() {
        "" => NO_SUMMARY.to_owned(),
        summary => format!("{BEGUN}\n\n<summary>\n{summary}\n</summary>"),
    }];
    if !material.transcript.is_empty() {
        let path = material.transcript;
        texts.push(format!("Every word of it is in {path}, should a detail be missing."));
    }
    texts.extend(material.kept.texts());
    let files = keepsakes::read_files(messages, files);
    texts.extend(files.iter().map(keepsakes::describe));
    let told = retelling::retell_end(&material.conversation.since_compaction(), exchanges);
    if !told.is_empty() {
        texts.push(format!("What was said and done last, shortened:\n{told}"));
    }
    // Memory holds whatever was said, and stands where it stood.
    let mut blocks = material.conversation.reminders().to_vec();
    blocks.extend(texts.into_iter().map(Block::text));
    blocks.extend(request(material.asked, material.threshold / 4));
    blocks
}

/// What the person asked for, word for word unless it is too large.
fn request(asked: &[Block], room: u64) -> Vec<Block> {
    if asked.is_empty() {
        return Vec::new();
    }
    let mut blocks =
        vec![Block::text("You are at work on this request of the user. Go on with it:")];
    if meter::of_blocks(asked) <= room {
        blocks.extend(asked.iter().cloned());
    } else {
        let texts: Vec<&str> = asked.iter().filter_map(Block::as_text).collect();
        blocks.push(Block::text(retelling::shorten(&texts.join("\n"), retelling::bytes(room))));
    }
    blocks.retain(|block| !block.is_blank());
    blocks
}
