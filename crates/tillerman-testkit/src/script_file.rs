//! Scripts in JSON files, for programs that run the server as a process of its own.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tillerman_protocol::stream::Usage;

use crate::fault;
use crate::reply::Reply;
use crate::response::{Response, response};
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
    Response(Box<ResponseItem>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusItem {
    status: u16,
    message: Option<String>,
    retry_after: Option<u64>,
    should_retry: Option<bool>,
    when: Option<String>,
    moves_prefix: Option<String>,
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
    delta_chars: Option<usize>,
    #[serde(default)]
    pauses: Vec<PauseItem>,
    hang_after_events: Option<usize>,
    cut_after_events: Option<usize>,
    when: Option<String>,
    moves_prefix: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolItem {
    name: String,
    #[serde(default)]
    input: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PauseItem {
    after_events: usize,
    ms: u64,
}

impl Script {
    /// Reads a script from JSON.
    ///
    /// The text is `{"replies": [reply, …]}`. A reply is either
    /// `{"status": 529, "message": "…", "retry_after": 1, "should_retry": false}` or a response
    /// with any of
    /// - `thinking`, `text`, `tools` (a list of `{"name": "…", "input": {…}}`): what it says;
    /// - `stop_reason`, `usage`, `delta_chars`: how it says it;
    /// - `pauses` (a list of `{"after_events": 4, "ms": 500}`), `hang_after_events`,
    ///   `cut_after_events`: how it arrives.
    ///
    /// Both may have `when`, a text that makes the reply wait for a conversation in which a user
    /// or a tool said it, and `moves_prefix`, the reason why the request need not continue an
    /// earlier one.
    ///
    /// # Errors
    /// When the text has another shape.
    pub fn from_json(text: &str) -> Result<Self, ReadScriptError> {
        let file: File = serde_json::from_str(text)?;
        Ok(file.replies.into_iter().fold(script(), add).build())
    }
}

fn add(script: ScriptBuilder, item: Item) -> ScriptBuilder {
    let (when, reply) = match item {
        Item::Status(item) => (item.when.clone(), Reply::from(item)),
        Item::Response(item) => (item.when.clone(), Reply::from(*item)),
    };
    match when {
        Some(text) => script.reply_when(text, reply),
        None => script.reply(reply),
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
        fault = match item.should_retry {
            Some(true) => fault.says_retry(),
            Some(false) => fault.says_do_not_retry(),
            None => fault,
        };
        if let Some(reason) = item.moves_prefix {
            fault = fault.moves_prefix(reason);
        }
        fault.into()
    }
}

impl From<ResponseItem> for Reply {
    fn from(item: ResponseItem) -> Self {
        let mut answer = response();
        if let Some(thinking) = &item.thinking {
            answer = answer.thinking(thinking);
        }
        if let Some(text) = &item.text {
            answer = answer.text(text);
        }
        for tool in &item.tools {
            answer = answer.tool_call(&tool.name, tool.input.clone());
        }
        answer.stop_reason.clone_from(&item.stop_reason);
        answer.usage.clone_from(&item.usage);
        deliver(answer, &item).into()
    }
}

fn deliver(mut answer: Response, item: &ResponseItem) -> Response {
    if let Some(chars) = item.delta_chars {
        answer = answer.delta_chars(chars);
    }
    for pause in &item.pauses {
        answer = answer.pause_after_events(pause.after_events, Duration::from_millis(pause.ms));
    }
    if let Some(events) = item.hang_after_events {
        answer = answer.half_open_after_events(events);
    }
    if let Some(events) = item.cut_after_events {
        answer = answer.disconnect_after_events(events);
    }
    if let Some(reason) = &item.moves_prefix {
        answer = answer.moves_prefix(reason);
    }
    answer
}
