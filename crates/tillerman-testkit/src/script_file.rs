//! Scripts in JSON files, for programs that run the server as a process of its own.

use serde::Deserialize;
use serde_json::Value;
use tillerman_protocol::stream::Usage;

use crate::fault;
use crate::reply::Reply;
use crate::response::response;
use crate::script::{Script, ScriptBuilder, script};

/// Why a text is no script.
#[derive(Debug, thiserror::Error)]
#[error("the text is not a script: {{\"replies\": [{{\"text\": …}}, {{\"status\": …}}, …]}}")]
pub struct ReadScriptError(#[from] serde_json::Error);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    replies: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Item {
    Status(StatusItem),
    Response(ResponseItem),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusItem {
    status: u16,
    message: Option<String>,
    retry_after: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseItem {
    thinking: Option<String>,
    text: Option<String>,
    #[serde(default)]
    tools: Vec<ToolItem>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolItem {
    name: String,
    #[serde(default)]
    input: serde_json::Map<String, Value>,
}

impl Script {
    /// Reads a script from JSON.
    ///
    /// The text is `{"replies": [reply, …]}`. A reply is either
    /// `{"status": 529, "message": "…", "retry_after": 1}` or a response with any of `thinking`,
    /// `text`, `tools` (a list of `{"name": "…", "input": {…}}`), `stop_reason` and `usage`.
    ///
    /// # Errors
    /// When the text has another shape.
    pub fn from_json(text: &str) -> Result<Self, ReadScriptError> {
        let file: File = serde_json::from_str(text)?;
        let replies = file.replies.into_iter().map(Reply::from);
        Ok(replies.fold(script(), ScriptBuilder::reply).build())
    }
}

impl From<Item> for Reply {
    fn from(item: Item) -> Self {
        match item {
            Item::Status(item) => item.into(),
            Item::Response(item) => item.into(),
        }
    }
}

impl From<StatusItem> for Reply {
    fn from(item: StatusItem) -> Self {
        let mut fault = fault::status(item.status);
        if let Some(message) = item.message {
            fault = fault.message(message);
        }
        if let Some(seconds) = item.retry_after {
            fault = fault.retry_after(seconds);
        }
        fault.into()
    }
}

impl From<ResponseItem> for Reply {
    fn from(item: ResponseItem) -> Self {
        let mut answer = response();
        if let Some(thinking) = item.thinking {
            answer = answer.thinking(thinking);
        }
        if let Some(text) = item.text {
            answer = answer.text(text);
        }
        for tool in item.tools {
            answer = answer.tool_call(&tool.name, tool.input);
        }
        answer.stop_reason = item.stop_reason;
        answer.usage = item.usage;
        answer.into()
    }
}
