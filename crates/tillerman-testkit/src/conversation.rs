//! Reading the messages of a request the way the API reads them.

use std::borrow::Cow;

use serde_json::{Value, json};

/// Neighbouring messages of one role, which the API treats as one.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) role: &'a str,
    pub(crate) blocks: Vec<Cow<'a, Value>>,
}

impl Turn<'_> {
    /// The blocks of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.blocks.iter().map(Cow::as_ref).filter(move |block| kind_of(block) == kind)
    }
}

/// The blocks of a content value; a bare string is one text block.
pub(crate) fn blocks(content: &Value) -> Vec<Cow<'_, Value>> {
    match content {
        Value::String(text) => vec![Cow::Owned(json!({ "type": "text", "text": text }))],
        Value::Array(blocks) => blocks.iter().map(Cow::Borrowed).collect(),
        _ => Vec::new(),
    }
}

/// The `type` of a block, or nothing.
pub(crate) fn kind_of(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

/// All text in a content value, that of tool results included.
pub(crate) fn plain_text(content: &Value) -> String {
    let texts: Vec<String> = blocks(content)
        .iter()
        .filter_map(|block| match kind_of(block) {
            "text" => Some(block["text"].as_str().unwrap_or_default().to_owned()),
            "tool_result" => Some(plain_text(&block["content"])),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// The turns of a conversation. System messages between them belong to no turn.
pub(crate) fn turns(messages: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "system" {
            continue;
        }
        let blocks = blocks(&message["content"]);
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    turns
}

/// How many tool results came after the last prompt, which is the last user turn without any.
pub(crate) fn results_since_prompt(messages: &[Value]) -> usize {
    let count = |turn: &Turn<'_>| turn.of_kind("tool_result").count();
    let turns = turns(messages);
    let is_prompt = |turn: &Turn<'_>| turn.role == "user" && count(turn) == 0;
    turns.iter().rev().take_while(|turn| !is_prompt(turn)).map(count).sum()
}
