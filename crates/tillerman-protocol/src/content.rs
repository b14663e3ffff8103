//! Message content in the shape of the Messages API.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::ToolUseId;
use crate::lenient::null_as_default;

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person or program that prompts, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Content as clients may send it: a bare string or a list of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A single text.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<Block>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Content {
    /// The content as blocks; a bare string becomes one text block, blank texts disappear.
    #[must_use]
    pub fn into_blocks(self) -> Vec<Block> {
        let blocks = match self {
            Self::Text(text) => vec![Block::text(text)],
            Self::Blocks(blocks) => blocks,
        };
        blocks.into_iter().filter(|block| !block.is_blank()).collect()
    }

    /// Whether there is nothing in it that a model could be sent.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Blocks(blocks) => blocks.iter().all(Block::is_blank),
        }
    }

    /// All text in the content, blocks joined by newlines.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
                texts.join("\n")
            }
        }
    }
}

/// One content block. Unknown kinds are carried through untouched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text. Required by official clients.
        text: String,
        /// Everything else the block carried, such as citations.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// The model's reasoning; must be sent back unchanged.
    Thinking {
        /// The reasoning text. Required by official clients.
        thinking: String,
        /// The signature that proves it unchanged. Required by official clients.
        #[serde(default)]
        signature: String,
    },
    /// Reasoning the provider keeps encrypted.
    RedactedThinking {
        /// The opaque payload.
        data: String,
    },
    /// A request to run a tool.
    ToolUse {
        /// Identifies the call. Required by official clients.
        id: ToolUseId,
        /// The tool. Required by official clients.
        name: String,
        /// The tool's input. Required by official clients.
        #[serde(default)]
        input: Value,
    },
    /// The outcome of a tool call.
    ToolResult(ToolResult),
    /// A picture the user or a tool shows the model.
    Image {
        /// Where the picture comes from.
        source: Value,
    },
    /// Any other block, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// The outcome of a tool call as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call this answers.
    pub tool_use_id: ToolUseId,
    /// What the tool said.
    #[serde(default, deserialize_with = "null_as_default")]
    pub content: Content,
    /// Whether the call failed.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_error: bool,
}

impl Block {
    /// A plain text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether this is a text block with nothing but white space, which the API refuses.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.as_text().is_some_and(|text| text.trim().is_empty())
    }
}
