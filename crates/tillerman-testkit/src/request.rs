//! What the agent sent, with the questions tests ask about it.

use std::collections::BTreeMap;

use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use tillerman_protocol::content::ToolResult;

use crate::conversation::{blocks, plain_text, turns};

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapturedRequest {
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers by lowercase name.
    pub headers: BTreeMap<String, String>,
    /// The body; null when it was no JSON.
    pub body: Value,
    /// What the real API would refuse about it; empty for a good request.
    pub problems: Vec<String>,
}

impl CapturedRequest {
    /// A header by its lowercase name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The model asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The messages as they were sent.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The names of the tools offered, in order.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default()).collect()
    }

    /// The system prompt as one text.
    #[must_use]
    pub fn system_text(&self) -> String {
        plain_text(&self.body["system"])
    }

    /// Everything users and tools said, as one text.
    #[must_use]
    pub fn user_text(&self) -> String {
        let users = self.messages().iter().filter(|message| message["role"] == "user");
        users.map(|message| plain_text(&message["content"])).collect::<Vec<_>>().join("\n")
    }

    /// The text of the last message.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages().last().map(|message| plain_text(&message["content"])).unwrap_or_default()
    }

    /// All tool results of the conversation, in order.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.blocks_of_kind("tool_result")
            .iter()
            .filter_map(|block| ToolResult::deserialize(block).ok())
            .collect()
    }

    /// The texts of all tool results, in order.
    #[must_use]
    pub fn tool_result_texts(&self) -> Vec<String> {
        let results = self.blocks_of_kind("tool_result");
        results.iter().map(|block| plain_text(&block["content"])).collect()
    }

    /// All tool calls of the conversation as they were sent back, in order.
    #[must_use]
    pub fn tool_calls(&self) -> Vec<Value> {
        self.blocks_of_kind("tool_use")
    }

    /// What the model sees, one line per item; see
    /// [`ScriptedServer::render_context`](crate::ScriptedServer::render_context).
    #[must_use]
    pub fn render_context(&self) -> String {
        crate::context::render(self)
    }

    /// All blocks of one kind in the conversation, in order.
    fn blocks_of_kind(&self, kind: &str) -> Vec<Value> {
        turns(self.messages()).iter().flat_map(|turn| turn.of_kind(kind).cloned()).collect()
    }

    /// Everything the prompt cache keys on, in its order and without the breakpoints: tools, the
    /// system prompt, then one item per content block.
    pub(crate) fn cache_items(&self) -> Vec<(String, Value)> {
        let mut items = vec![
            ("tools".to_owned(), without_breakpoints(&self.body["tools"])),
            ("system prompt".to_owned(), without_breakpoints(&self.body["system"])),
        ];
        for message in self.messages() {
            let role = message["role"].as_str().unwrap_or_default();
            for block in blocks(&message["content"]) {
                items.push((role.to_owned(), without_breakpoints(&block)));
            }
        }
        items
    }
}

fn without_breakpoints(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| *key != "cache_control");
            kept.map(|(key, value)| (key.clone(), without_breakpoints(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_breakpoints).collect(),
        other => other.clone(),
    }
}
