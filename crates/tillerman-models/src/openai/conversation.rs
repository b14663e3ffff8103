//! Translates messages of a conversation into chat messages.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};

/// Adds a message in the form chat completions take; one may become several or none.
pub(super) fn push_message(message: &Message, out: &mut Vec<Value>) {
    match (&message.content, message.role) {
        (Content::Text(text), _) if text.trim().is_empty() => {}
        (Content::Text(text), role) => out.push(json!({"role": role, "content": text})),
        (Content::Blocks(blocks), Role::User) => push_user(blocks, out),
        (Content::Blocks(blocks), Role::Assistant) => push_assistant(blocks, out),
    }
}

/// Results of tools must directly follow the calls, so everything else of a user's message, and
/// the pictures tools returned, comes after them.
fn push_user(blocks: &[Block], out: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            Block::ToolResult(result) => out.push(tool_message(result, &mut parts)),
            Block::ToolUse { .. } | Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
            shown => parts.extend(part(shown)),
        }
    }
    if !parts.is_empty() {
        out.push(json!({"role": "user", "content": user_content(parts)}));
    }
}

/// Some servers take only plain text, so parts are used only where a picture needs them.
fn user_content(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    match texts {
        Some(texts) => texts.join("\n").into(),
        None => parts.into(),
    }
}

fn push_assistant(blocks: &[Block], out: &mut Vec<Value>) {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text, .. } if !block.is_blank() => texts.push(text.as_str()),
            Block::ToolUse { id, name, input } => calls.push(json!({
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })),
            // Reasoning is signed for the provider it came from.
            _ => {}
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return;
    }
    let content = if texts.is_empty() { Value::Null } else { texts.join("\n").into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    out.push(message);
}

fn tool_message(result: &ToolResult, pictures: &mut Vec<Value>) -> Value {
    let mut texts = Vec::new();
    match &result.content {
        Content::Text(text) => texts.push(text.clone()),
        Content::Blocks(blocks) => {
            for part in blocks.iter().filter_map(part) {
                match part.get("text").and_then(Value::as_str) {
                    Some(text) => texts.push(text.to_owned()),
                    None => {
                        texts.push("[the picture follows in the next message]".to_owned());
                        pictures.push(part);
                    }
                }
            }
        }
    }
    let text = texts.join("\n");
    let text = match (result.is_error, text.trim().is_empty()) {
        (true, _) => format!("Error: {text}"),
        (false, true) => "(no output)".to_owned(),
        (false, false) => text,
    };
    json!({"role": "tool", "tool_call_id": result.tool_use_id, "content": text})
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text, .. } => {
            (!block.is_blank()).then(|| json!({"type": "text", "text": text}))
        }
        Block::Image { source } => Some(image(source)),
        Block::Other(value) => Some(json!({"type": "text", "text": other_text(value)})),
        _ => None,
    }
}

fn image(source: &Value) -> Value {
    let field = |name: &str| source.get(name).and_then(Value::as_str);
    let url = match (field("data"), field("url")) {
        (Some(data), _) => {
            format!("data:{};base64,{data}", field("media_type").unwrap_or("image/png"))
        }
        (None, Some(url)) => url.to_owned(),
        (None, None) => {
            return json!({"type": "text", "text": "[a picture that could not be passed on]"});
        }
    };
    json!({"type": "image_url", "image_url": {"url": url}})
}

/// Text documents are passed on as their text; what chat cannot carry is at least named.
fn other_text(value: &Value) -> String {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("unknown");
    let source = value.get("source").filter(|source| source["type"] == "text");
    match source.and_then(|source| source["data"].as_str()) {
        Some(text) => text.to_owned(),
        None => format!("[a block of type {kind} that this provider cannot read]"),
    }
}
