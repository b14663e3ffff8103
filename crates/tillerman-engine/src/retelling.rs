//! A conversation told as text, shortened to fit.

use std::sync::Arc;

use tillerman_protocol::content::{Block, Message, Role};

use crate::conversation::blocks;
use crate::meter;

const LONGEST_SPEECH: usize = 4_000;
const LONGEST_INPUT: usize = 400;
const LONGEST_OUTPUT: usize = 800;
const LEFT_OUT: &str = "[… what came between is left out …]";

/// Tells messages in at most so many tokens: the end of them, and how they began.
pub(crate) fn retell(messages: &[Arc<Message>], room: u64) -> String {
    let Some((first, rest)) = messages.split_first() else { return String::new() };
    let opening = shorten(&tell(first), bytes(room / 4));
    let mut left = room.saturating_sub(meter::tokens(opening.len()));
    let mut told = Vec::new();
    for message in rest.iter().rev() {
        let text = tell(message);
        let size = meter::tokens(text.len());
        if size > left {
            told.push(LEFT_OUT.to_owned());
            break;
        }
        left -= size;
        told.push(text);
    }
    told.push(opening);
    told.reverse();
    told.join("\n\n")
}

/// Tells the end of messages in at most so many tokens.
pub(crate) fn retell_end(messages: &[Arc<Message>], room: u64) -> String {
    let mut left = room;
    let mut told = Vec::new();
    for message in messages.iter().rev() {
        let text = tell(message);
        let size = meter::tokens(text.len());
        if size > left {
            break;
        }
        left -= size;
        told.push(text);
    }
    told.reverse();
    told.join("\n\n")
}

/// A text that keeps its beginning and its end.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most * 2 / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - most / 3)..];
    format!("{head}\n[…]\n{tail}")
}

/// About how many bytes so many tokens are.
pub(crate) fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(7) / 2).unwrap_or(usize::MAX)
}

fn tell(message: &Message) -> String {
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
    };
    let told: Vec<String> =
        blocks(message).iter().filter_map(|block| tell_block(who, block)).collect();
    told.join("\n")
}

fn tell_block(who: &str, block: &Block) -> Option<String> {
    Some(match block {
        Block::Text { text, .. } => format!("{who}: {}", shorten(text, LONGEST_SPEECH)),
        Block::ToolUse { name, input, .. } => {
            format!("Call: {name} {}", shorten(&input.to_string(), LONGEST_INPUT))
        }
        Block::ToolResult(result) => {
            let kind = if result.is_error { "Error" } else { "Result" };
            format!("{kind}: {}", shorten(&result.content.plain_text(), LONGEST_OUTPUT))
        }
        Block::Image { .. } => format!("{who}: [a picture]"),
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Other(_) => return None,
    })
}
