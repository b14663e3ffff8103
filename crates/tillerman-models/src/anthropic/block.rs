//! How content blocks are written into a request, borrowed from the conversation.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use tillerman_protocol::content::{Block, Content, ToolResult};

use super::config::CachePolicy;

const CACHE_CONTROL: &str = "cache_control";

/// The mark that ends a cached prefix.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    /// The mark a policy asks for, if it asks for one.
    pub(super) const fn of(policy: CachePolicy) -> Option<Self> {
        match policy {
            CachePolicy::Off => None,
            CachePolicy::FiveMinutes => Some(Self { kind: "ephemeral", ttl: None }),
            CachePolicy::OneHour => Some(Self { kind: "ephemeral", ttl: Some("1h") }),
        }
    }
}

/// One block as it is sent. Marks that came with the conversation are left out: the provider allows
/// four in all, and where they belong is decided per request.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockView<'a> {
    block: &'a Block,
    mark: Option<CacheControl>,
}

/// The blocks of a content, without the blank texts the API refuses.
pub(super) fn block_views(blocks: &[Block]) -> Vec<BlockView<'_>> {
    let kept = blocks.iter().filter(|block| !block.is_blank());
    kept.map(|block| BlockView { block, mark: None }).collect()
}

impl BlockView<'_> {
    pub(super) const fn mark(&mut self, mark: CacheControl) {
        self.mark = Some(mark);
    }

    /// Whether the API accepts a mark here. Reasoning takes none, and of the blocks nobody here
    /// knows only documents and search results are sure to take one.
    pub(super) fn takes_mark(&self) -> bool {
        match self.block {
            Block::Text { .. }
            | Block::ToolUse { .. }
            | Block::ToolResult(_)
            | Block::Image { .. } => true,
            Block::Thinking { .. } | Block::RedactedThinking { .. } => false,
            Block::Other(value) => value
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|kind| matches!(kind, "document" | "search_result")),
        }
    }
}

impl Serialize for BlockView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Block::Other(value) = self.block
            && !value.is_object()
        {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self.block {
            Block::Text { text, extra } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                write_unmarked(&mut map, extra)?;
            }
            Block::Thinking { thinking, signature } => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", thinking)?;
                map.serialize_entry("signature", signature)?;
            }
            Block::RedactedThinking { data } => {
                map.serialize_entry("type", "redacted_thinking")?;
                map.serialize_entry("data", data)?;
            }
            Block::ToolUse { id, name, input } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("input", input)?;
            }
            Block::ToolResult(result) => write_tool_result(&mut map, result)?,
            Block::Image { source } => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("source", source)?;
            }
            Block::Other(value) => {
                if let Value::Object(fields) = value {
                    write_unmarked(&mut map, fields)?;
                }
            }
        }
        if let Some(mark) = &self.mark {
            map.serialize_entry(CACHE_CONTROL, mark)?;
        }
        map.end()
    }
}

fn write_unmarked<M: SerializeMap>(
    map: &mut M,
    fields: &Map<String, Value>,
) -> Result<(), M::Error> {
    for (key, value) in fields.iter().filter(|(key, _)| key.as_str() != CACHE_CONTROL) {
        map.serialize_entry(key, value)?;
    }
    Ok(())
}

fn write_tool_result<M: SerializeMap>(map: &mut M, result: &ToolResult) -> Result<(), M::Error> {
    map.serialize_entry("type", "tool_result")?;
    map.serialize_entry("tool_use_id", &result.tool_use_id)?;
    match &result.content {
        Content::Text(text) if text.trim().is_empty() => {}
        Content::Text(text) => map.serialize_entry("content", text)?,
        Content::Blocks(blocks) => {
            let blocks = block_views(blocks);
            if !blocks.is_empty() {
                map.serialize_entry("content", &blocks)?;
            }
        }
    }
    if result.is_error {
        map.serialize_entry("is_error", &true)?;
    }
    Ok(())
}
