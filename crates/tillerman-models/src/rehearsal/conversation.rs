//! Reads from a request what was asked last and what has been done about it.

use std::collections::HashMap;

use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};
use tillerman_protocol::model::ModelRequest;

use super::script::CALL_PREFIX;
use super::understand::{is_understood, understand};

/// What a conversation says about the newest prompt.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The newest prompt, without what the engine added to it.
    pub(super) prompt: String,
    /// The prompts before it.
    pub(super) earlier_prompts: Vec<String>,
    /// Outcomes of the rehearsal's own calls since the newest prompt, in order.
    pub(super) outcomes: Vec<Outcome>,
    /// The working directory, if the system prompt names it.
    pub(super) directory: Option<String>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) failed: bool,
}

impl Conversation {
    /// Reads a request.
    pub(super) fn read(request: &ModelRequest) -> Self {
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut prompts: Vec<(usize, String)> = request
            .messages
            .iter()
            .enumerate()
            .flat_map(|(at, message)| {
                prompt_texts(message, &tools).into_iter().map(move |text| (at, text))
            })
            .collect();
        let (newest, prompt) = prompts.pop().unwrap_or_default();
        Self {
            prompt,
            earlier_prompts: prompts.into_iter().map(|(_, text)| text).collect(),
            outcomes: outcomes(request.messages.get(newest..).unwrap_or_default()),
            directory: working_directory(request),
        }
    }
}

/// The prompts a message holds: what was said before an interrupt is one, what came after it the
/// next.
///
/// Text beside tool results is usually a remark of the engine or a hook; it counts as a prompt
/// only when it can be understood as one, or the same calls would be made again and again.
fn prompt_texts(message: &Message, tools: &[&str]) -> Vec<String> {
    if message.role != Role::User {
        return Vec::new();
    }
    let (texts, beside_results): (Vec<String>, bool) = match &message.content {
        Content::Text(text) => (vec![without_remarks(text)], false),
        Content::Blocks(blocks) => {
            let last_result = blocks.iter().rposition(|b| matches!(b, Block::ToolResult(_)));
            let said = &blocks[last_result.map_or(0, |at| at + 1)..];
            let texts = said.iter().filter_map(Block::as_text).map(without_remarks);
            (texts.collect(), last_result.is_some())
        }
    };
    let is_marker = |text: &String| text.trim_start().starts_with("[Request interrupted");
    let sections = texts.split(is_marker).map(|section| section.join("\n").trim().to_owned());
    // Only what stands before the first interrupt stands beside the results.
    let counts = |(at, text): &(usize, String)| {
        let is_remark = *at == 0 && beside_results;
        !text.is_empty() && (!is_remark || is_understood(&understand(text, tools)))
    };
    sections.enumerate().filter(counts).map(|(_, text)| text).collect()
}

/// Removes the elements that engines wrap around prompts.
pub(super) fn without_remarks(text: &str) -> String {
    const WRAPPERS: [&str; 5] = [
        "system-reminder",
        "command-name",
        "command-message",
        "command-args",
        "local-command-stdout",
    ];
    let mut text = text.to_owned();
    for name in WRAPPERS {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let length = text[start..].find(&close).map(|length| length + close.len());
            text.replace_range(start..length.map_or(text.len(), |length| start + length), "");
        }
    }
    text
}

fn outcomes(messages: &[std::sync::Arc<Message>]) -> Vec<Outcome> {
    let blocks = || messages.iter().flat_map(|message| blocks(&message.content));
    let results: HashMap<&str, &ToolResult> = blocks()
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some((result.tool_use_id.as_str(), result)),
            _ => None,
        })
        .collect();
    blocks()
        .filter_map(|block| match block {
            Block::ToolUse { id, .. } if id.as_str().starts_with(CALL_PREFIX) => Some(id.as_str()),
            _ => None,
        })
        .map(|id| results.get(id).map_or_else(missing_outcome, |result| outcome(result)))
        .collect()
}

fn blocks(content: &Content) -> &[Block] {
    match content {
        Content::Text(_) => &[],
        Content::Blocks(blocks) => blocks,
    }
}

fn outcome(result: &ToolResult) -> Outcome {
    let text = without_remarks(&result.content.plain_text()).trim_end().to_owned();
    Outcome { text, failed: result.is_error }
}

fn missing_outcome() -> Outcome {
    Outcome { text: "the call was never answered".to_owned(), failed: true }
}

fn working_directory(request: &ModelRequest) -> Option<String> {
    let system = request.system.iter().map(|block| block.text.clone());
    let said = request.messages.iter().take(2).map(|message| message.content.plain_text());
    system.chain(said).find_map(|text| {
        text.lines().find_map(|line| {
            let line = line.trim_start_matches(['-', '*', ' ']);
            let path = line.strip_prefix("Working directory:")?.trim().trim_matches('`');
            (!path.is_empty()).then(|| path.to_owned())
        })
    })
}
