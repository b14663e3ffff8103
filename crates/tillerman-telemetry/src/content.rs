//! What was said, in the form that the conventions give messages; only for those who ask for it.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content, Message, Role};
use tillerman_protocol::model::ModelRequest;
use tillerman_protocol::tool::ToolOutcome;

/// The longest text that an attribute holds; what is longer is cut off at its end, and of a
/// conversation the oldest messages are left out.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The system prompt of a request.
pub(crate) fn instructions(request: &ModelRequest) -> String {
    let parts = request.system.iter();
    let parts: Vec<Value> =
        parts.map(|block| json!({"type": "text", "content": cut(block.text.clone())})).collect();
    Value::Array(parts).to_string()
}

/// The newest messages of a request that fit.
pub(crate) fn input(request: &ModelRequest) -> String {
    let mut left = LONGEST;
    let mut newest = Vec::new();
    for message in request.messages.iter().rev() {
        let written = message_of(message).to_string();
        if written.len() > left {
            break;
        }
        left -= written.len();
        newest.push(written);
    }
    newest.reverse();
    format!("[{}]", newest.join(","))
}

/// What a tool said.
pub(crate) fn result(outcome: &ToolOutcome) -> String {
    cut(match outcome {
        Ok(output) => output.content.plain_text(),
        Err(failure) => failure.message.clone(),
    })
}

/// A text that is not too long.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
    }
    text
}

/// Why a model stopped, in the words of the conventions.
pub(crate) fn finish_reason(reason: Option<&str>) -> &str {
    match reason {
        Some("end_turn" | "stop_sequence") => "stop",
        Some("max_tokens") => "length",
        Some("tool_use") => "tool_call",
        Some("refusal") => "content_filter",
        Some(other) => other,
        None => "error",
    }
}

fn message_of(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let parts: Vec<Value> = match &message.content {
        Content::Text(text) => vec![json!({"type": "text", "content": text})],
        Content::Blocks(blocks) => blocks.iter().map(part).collect(),
    };
    json!({"role": role, "parts": parts})
}

fn part(block: &Block) -> Value {
    match block {
        Block::Text { text, .. } => json!({"type": "text", "content": text}),
        Block::Thinking { thinking, .. } => json!({"type": "reasoning", "content": thinking}),
        Block::ToolUse { id, name, input } => {
            json!({"type": "tool_call", "id": id, "name": name, "arguments": input})
        }
        Block::ToolResult(result) => json!({
            "type": "tool_call_response",
            "id": result.tool_use_id,
            "response": result.content.plain_text(),
        }),
        Block::RedactedThinking { .. } => json!({"type": "reasoning", "content": ""}),
        Block::Image { .. } => json!({"type": "blob", "modality": "image"}),
        Block::Other(_) => json!({"type": "other"}),
    }
}
