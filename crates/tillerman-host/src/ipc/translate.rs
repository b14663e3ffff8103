//! From frames of a session to what a shell is told.

use std::collections::HashMap;

use serde_json::Value;
use tillerman_protocol::ipc::IpcBody;

/// Calls whose names are remembered.
const MOST_CALLS: usize = 4_096;

/// Turns frames into responses. It remembers what was said already, so that a text which came in
/// pieces is not said again when it comes as a whole, and what was missed of it is made up for.
#[derive(Debug)]
pub(crate) struct Translator {
    conversation: String,
    /// What was said of the text that has not come as a whole.
    said: String,
    /// Whether pieces may have been missed.
    is_torn: bool,
    names: HashMap<String, String>,
}

impl Translator {
    pub(crate) fn new(conversation: &str) -> Self {
        Self {
            conversation: conversation.to_owned(),
            said: String::new(),
            is_torn: false,
            names: HashMap::new(),
        }
    }

    /// Frames may have been missed.
    pub(crate) const fn tear(&mut self) {
        self.is_torn = true;
    }

    /// Another run takes over: what the last one did not finish stays said, but nothing belongs to
    /// it.
    pub(crate) fn start_over(&mut self) {
        self.said.clear();
    }

    /// What a shell is told about a frame.
    pub(crate) fn translate(&mut self, frame: &Value) -> Vec<IpcBody> {
        let is_own = frame["parent_tool_use_id"].is_null();
        match frame["type"].as_str().unwrap_or_default() {
            "stream_event" if is_own => self.piece(&frame["event"]).into_iter().collect(),
            "assistant" => self.whole(&frame["message"]["content"], is_own),
            "user" => self.results(&frame["message"]["content"]),
            "tool_progress" => vec![IpcBody::ToolProgress {
                tool_use_id: text(frame, "tool_use_id"),
                tool_name: text(frame, "tool_name"),
                elapsed_time_seconds: frame["elapsed_time_seconds"].as_f64().unwrap_or_default(),
            }],
            _ => Vec::new(),
        }
    }

    fn piece(&mut self, event: &Value) -> Option<IpcBody> {
        if event["type"] == "message_start" {
            // What came of a response that was given up stays said, but nothing belongs to it.
            self.said.clear();
        }
        let delta = &event["delta"];
        let is_text = event["type"] == "content_block_delta" && delta["type"] == "text_delta";
        let piece = delta["text"].as_str().filter(|piece| is_text && !piece.is_empty())?;
        self.said.push_str(piece);
        Some(self.token(piece))
    }

    fn token(&self, token: &str) -> IpcBody {
        let conversation_id = Some(self.conversation.clone());
        IpcBody::Token { token: token.to_owned(), conversation_id }
    }

    fn whole(&mut self, content: &Value, is_own: bool) -> Vec<IpcBody> {
        let mut bodies = Vec::new();
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or_default() {
                "text" if is_own => {
                    let rest = self.rest(block["text"].as_str().unwrap_or_default());
                    bodies.extend(rest.map(|rest| self.token(&rest)));
                }
                "tool_use" => {
                    let (id, name) = (text(block, "id"), text(block, "name"));
                    if self.names.len() < MOST_CALLS {
                        self.names.insert(id.clone(), name.clone());
                    }
                    let tool_input = block["input"].clone();
                    bodies.push(IpcBody::ToolUse { tool_use_id: id, tool_name: name, tool_input });
                }
                _ => {}
            }
        }
        bodies
    }

    /// What has not been said of a whole text.
    fn rest(&mut self, whole: &str) -> Option<String> {
        let said = std::mem::take(&mut self.said);
        let was_torn = std::mem::take(&mut self.is_torn);
        if let Some(rest) = whole.strip_prefix(said.as_str()) {
            return Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        }
        if let Some(ahead) = said.strip_prefix(whole) {
            // Pieces of the next text have come already.
            ahead.clone_into(&mut self.said);
            return None;
        }
        // A text said twice is better than one that was not.
        was_torn.then(|| format!("\n{whole}"))
    }

    fn results(&mut self, content: &Value) -> Vec<IpcBody> {
        let blocks = content.as_array().into_iter().flatten();
        let results = blocks.filter(|block| block["type"] == "tool_result");
        results
            .map(|block| {
                let id = text(block, "tool_use_id");
                IpcBody::ToolResult {
                    tool_name: self.names.remove(&id).unwrap_or_default(),
                    tool_use_id: id,
                    content: plain(&block["content"]),
                    is_error: block["is_error"] == true,
                }
            })
            .collect()
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// The text of what a tool said; what is not text is only mentioned.
fn plain(content: &Value) -> String {
    let part = |block: &Value| match block["type"].as_str().unwrap_or_default() {
        "text" => text(block, "text"),
        other => format!("[{other}]"),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(part).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
