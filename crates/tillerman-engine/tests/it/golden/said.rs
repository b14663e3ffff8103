//! Messages and blocks in short.

use std::sync::Arc;

use tillerman_protocol::content::{Block, Content, Message, Role};

const LONGEST_TEXT: usize = 60;

/// One block of a conversation and who said it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    role: Role,
    block: Block,
}

/// A conversation as one list of blocks.
pub(super) fn messages(messages: &[Arc<Message>]) -> Vec<Said> {
    let said = |message: &Arc<Message>| {
        let role = message.role;
        let blocks = message.content.clone().into_blocks();
        blocks.into_iter().map(move |block| Said { role, block }).collect::<Vec<_>>()
    };
    messages.iter().flat_map(said).collect()
}

/// What was said, message by message.
pub(super) fn message(said: &[Said]) -> String {
    let parts = said.chunk_by(|one, next| one.role == next.role).map(|blocks| {
        let role = match blocks.first().map(|said| said.role) {
            Some(Role::User) => "user",
            _ => "assistant",
        };
        let blocks: Vec<String> = blocks.iter().map(|said| block(&said.block)).collect();
        format!("{role} {}", blocks.join(", "))
    });
    parts.collect::<Vec<_>>().join(" | ")
}

/// Content, whichever form it has.
pub(super) fn content(content: &Content) -> String {
    match content {
        Content::Text(text) => quoted(text),
        Content::Blocks(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join(", "),
    }
}

/// One block.
pub(super) fn block(block: &Block) -> String {
    match block {
        Block::Text { text, .. } => quoted(text),
        Block::Thinking { thinking, .. } => format!("thinking {}", quoted(thinking)),
        Block::RedactedThinking { .. } => "redacted thinking".to_owned(),
        Block::ToolUse { id, name, input } => format!("call {id} {name} {input}"),
        Block::ToolResult(result) => {
            let kind = if result.is_error { "error" } else { "result" };
            format!("{kind} {} {}", result.tool_use_id, content(&result.content))
        }
        Block::Image { .. } => "image".to_owned(),
        Block::Other(value) => value.to_string(),
    }
}

/// A text in quotes, shortened.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    serde_json::Value::String(short).to_string()
}
