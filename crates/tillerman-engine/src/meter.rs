//! How many tokens the context holds: the provider's count where there is one, estimates for
//! what was added since.

use serde_json::Value;
use tillerman_protocol::content::{Block, Content, Message};
use tillerman_protocol::tool::ToolSpec;

/// What a picture counts for, whatever its bytes.
const PICTURE_BYTES: usize = 5_600;
/// What the frame around a block counts for.
const FRAME_BYTES: usize = 16;
/// Documents travel as base64 of a compressed format, which says little about their text.
const DOCUMENT_SHARE: usize = 8;

/// The tokens of a text of so many bytes, at 3.5 bytes each.
pub(crate) const fn tokens(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(7)
}

/// The tokens of messages.
pub(crate) fn of_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    tokens(messages.into_iter().map(|message| content_weight(&message.content)).sum())
}

/// The tokens of blocks.
pub(crate) fn of_blocks(blocks: &[Block]) -> u64 {
    tokens(blocks.iter().map(weight).sum())
}

/// The tokens of content.
pub(crate) fn of_content(content: &Content) -> u64 {
    tokens(content_weight(content))
}

/// The tokens of tools.
pub(crate) fn of_tools<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> u64 {
    let weigh = |tool: &ToolSpec| {
        tool.name.len() + tool.description.len() + json_weight(&tool.input_schema) + FRAME_BYTES
    };
    tokens(tools.into_iter().map(weigh).sum())
}

fn content_weight(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len() + FRAME_BYTES,
        Content::Blocks(blocks) => blocks.iter().map(weight).sum::<usize>() + FRAME_BYTES,
    }
}

fn weight(block: &Block) -> usize {
    FRAME_BYTES
        + match block {
            Block::Text { text, .. } => text.len(),
            Block::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Block::RedactedThinking { data } => data.len(),
            Block::ToolUse { id, name, input } => {
                id.as_str().len() + name.len() + json_weight(input)
            }
            Block::ToolResult(result) => {
                result.tool_use_id.as_str().len() + content_weight(&result.content)
            }
            Block::Image { .. } => PICTURE_BYTES,
            Block::Other(value) if value["type"] == "document" => {
                json_weight(value) / DOCUMENT_SHARE
            }
            Block::Other(value) => json_weight(value),
        }
}

/// About how long a value is as JSON, without writing it.
fn json_weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_weight(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, item)| key.len() + json_weight(item) + 4).sum::<usize>() + 2
        }
    }
}

/// What the provider counted last, and what was there to be counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    counted: u64,
    /// What the counted messages are estimated at.
    base: u64,
}

impl Meter {
    /// Takes a provider's count of a context whose messages are estimated at `messages`. One that
    /// counts nothing is not believed.
    pub(crate) const fn count(&mut self, counted: u64, messages: u64) {
        if counted > 0 {
            (self.counted, self.base) = (counted, messages);
        }
    }

    /// The messages are others now.
    pub(crate) const fn forget(&mut self) {
        (self.counted, self.base) = (0, 0);
    }

    /// So many estimated tokens were taken out of the counted messages.
    pub(crate) const fn shrink(&mut self, by: u64) {
        self.counted = self.counted.saturating_sub(by);
        self.base = self.base.saturating_sub(by);
    }

    /// Tokens in the context, given estimates of what stands before the messages and of them.
    pub(crate) const fn reading(&self, head: u64, messages: u64) -> u64 {
        match self.counted {
            0 => head + messages,
            counted => counted + messages.saturating_sub(self.base),
        }
    }
}

/// Notices compactions that do not help for long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Responses since the newest compaction.
    responses: Option<u32>,
    /// Compactions in a row that were needed soon after the one before.
    rapid: u32,
}

/// Fewer responses between two compactions mean that the first did not help.
const SOON: u32 = 3;
/// After so many of them in a row the next one would not help either.
const MOST_RAPID: u32 = 3;

impl Guard {
    /// A response came in.
    pub(crate) const fn responded(&mut self) {
        if let Some(count) = &mut self.responses {
            *count = count.saturating_add(1);
        }
    }

    /// The conversation was compacted.
    pub(crate) const fn compacted(&mut self) {
        self.responses = Some(0);
    }

    /// Whether nothing was answered since the newest compaction; another one would find nothing.
    pub(crate) fn is_fresh(&self) -> bool {
        self.responses == Some(0)
    }

    /// Notes that the context is full again. True when compacting once more would not help; the
    /// next try counts anew.
    pub(crate) fn trips(&mut self) -> bool {
        let soon = self.responses.is_some_and(|count| count < SOON);
        self.rapid = if soon { self.rapid + 1 } else { 0 };
        let trips = self.rapid >= MOST_RAPID;
        if trips {
            *self = Self::default();
        }
        trips
    }
}
