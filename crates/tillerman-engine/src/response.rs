//! One streamed response, put together block by block.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tillerman_protocol::content::Block;
use tillerman_protocol::stream::{Delta, MessageHead, StreamEvent, Usage};
use tillerman_protocol::{Moment, ToolUseId};

use crate::calls::ResponseId;

/// No response is larger than this; a provider that sends more is broken.
const LARGEST_RESPONSE: usize = 32 << 20;

/// A response that is coming in.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) id: ResponseId,
    pub(crate) requested_at: Moment,
    pub(crate) request_id: Option<String>,
    pub(crate) head: Option<MessageHead>,
    pub(crate) usage: Usage,
    pub(crate) stop_reason: Option<String>,
    /// Calls whose input was not JSON; whether they count depends on how the response ends.
    pub(crate) broken_calls: Vec<BrokenCall>,
    open: BTreeMap<u32, Partial>,
    next_index: u32,
    size: usize,
}

/// A call whose input was not JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrokenCall {
    pub(crate) id: ToolUseId,
    pub(crate) name: String,
}

#[derive(Clone, Debug)]
enum Partial {
    Text { text: String, extra: Map<String, Value> },
    Thinking { thinking: String, signature: String },
    Call { id: ToolUseId, name: String, json: String, whole: Value },
    Opaque { block: Value, json: String },
}

/// What an event completed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Progress {
    Nothing,
    Block(Block),
    Outcome,
    Whole,
}

/// An event that cannot follow what came before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nonsense(pub(crate) String);

impl Response {
    pub(crate) fn new(id: ResponseId, requested_at: Moment) -> Self {
        Self {
            id,
            requested_at,
            request_id: None,
            head: None,
            usage: Usage::default(),
            stop_reason: None,
            broken_calls: Vec::new(),
            open: BTreeMap::new(),
            next_index: 0,
            size: 0,
        }
    }

    /// Takes the next event in.
    pub(crate) fn feed(&mut self, event: &StreamEvent) -> Result<Progress, Nonsense> {
        if self.head.is_none()
            && !matches!(
                event,
                StreamEvent::MessageStart { .. } | StreamEvent::Ping | StreamEvent::Other(_)
            )
        {
            return Err(Nonsense("an event came before the start of the response".to_owned()));
        }
        match event {
            StreamEvent::MessageStart { message } => self.start(message),
            StreamEvent::ContentBlockStart { index, content_block } => {
                self.open_block(*index, content_block)
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.grow_block(*index, delta),
            StreamEvent::ContentBlockStop { index } => self.close_block(*index),
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.clone().or_else(|| self.stop_reason.take());
                self.usage.update(usage);
                Ok(Progress::Outcome)
            }
            StreamEvent::MessageStop if self.open.is_empty() => Ok(Progress::Whole),
            StreamEvent::MessageStop => {
                Err(Nonsense("the response ended inside a content block".to_owned()))
            }
            StreamEvent::Ping | StreamEvent::Other(_) => Ok(Progress::Nothing),
        }
    }

    /// The text of a block that never became complete, if there is any.
    pub(crate) fn partial_text(&self) -> Option<String> {
        let text = self.open.values().find_map(|partial| match partial {
            Partial::Text { text, .. } => Some(text.clone()),
            _ => None,
        })?;
        (!text.trim().is_empty()).then_some(text)
    }

    fn start(&mut self, head: &MessageHead) -> Result<Progress, Nonsense> {
        if self.head.is_some() {
            return Err(Nonsense("the response started twice".to_owned()));
        }
        self.usage = head.usage.clone();
        self.head = Some(head.clone());
        Ok(Progress::Nothing)
    }

    fn open_block(&mut self, index: u32, block: &Value) -> Result<Progress, Nonsense> {
        if index < self.next_index {
            return Err(Nonsense(format!("content block {index} started twice")));
        }
        self.next_index = index.saturating_add(1);
        let partial = match serde_json::from_value(block.clone()) {
            Ok(Block::Text { text, extra }) => Partial::Text { text, extra },
            Ok(Block::Thinking { thinking, signature }) => {
                Partial::Thinking { thinking, signature }
            }
            Ok(Block::ToolUse { id, name, input }) => {
                Partial::Call { id, name, json: String::new(), whole: input }
            }
            _ if block.get("type").and_then(Value::as_str) == Some("tool_use") => {
                return Err(Nonsense(format!("content block {index} is a call without a name")));
            }
            _ => Partial::Opaque { block: block.clone(), json: String::new() },
        };
        self.open.insert(index, partial);
        Ok(Progress::Nothing)
    }

    fn grow_block(&mut self, index: u32, delta: &Delta) -> Result<Progress, Nonsense> {
        let Some(partial) = self.open.get_mut(&index) else {
            return Err(Nonsense(format!("content block {index} grew without being open")));
        };
        let added = match (partial, delta) {
            (Partial::Text { text, .. }, Delta::TextDelta { text: more }) => append(text, more),
            (
                Partial::Call { json, .. } | Partial::Opaque { json, .. },
                Delta::InputJsonDelta { partial_json },
            ) => append(json, partial_json),
            (Partial::Thinking { thinking, .. }, Delta::ThinkingDelta { thinking: more }) => {
                append(thinking, more)
            }
            (Partial::Thinking { signature, .. }, Delta::SignatureDelta { signature: more }) => {
                append(signature, more)
            }
            (_, Delta::Other(_)) | (Partial::Opaque { .. }, _) => 0,
            _ => return Err(Nonsense(format!("content block {index} grew by another kind"))),
        };
        self.size += added;
        if self.size > LARGEST_RESPONSE {
            return Err(Nonsense("the response is larger than any response can be".to_owned()));
        }
        Ok(Progress::Nothing)
    }

    fn close_block(&mut self, index: u32) -> Result<Progress, Nonsense> {
        let Some(partial) = self.open.remove(&index) else {
            return Err(Nonsense(format!("content block {index} ended without being open")));
        };
        let block = match partial {
            Partial::Text { text, extra } => Block::Text { text, extra },
            Partial::Thinking { thinking, signature } => Block::Thinking { thinking, signature },
            Partial::Opaque { mut block, json } => {
                // Tools of the provider stream their input like any other call.
                if let (Some(fields), Ok(input)) =
                    (block.as_object_mut(), serde_json::from_str(&json))
                {
                    fields.insert("input".to_owned(), input);
                }
                serde_json::from_value(block.clone()).unwrap_or(Block::Other(block))
            }
            Partial::Call { id, name, json, whole } => match call_input(&json, whole) {
                Some(input) => Block::ToolUse { id, name, input },
                None => {
                    self.broken_calls.push(BrokenCall { id, name });
                    return Ok(Progress::Nothing);
                }
            },
        };
        Ok(Progress::Block(block))
    }
}

fn append(text: &mut String, more: &str) -> usize {
    text.push_str(more);
    more.len()
}

fn call_input(json: &str, whole: Value) -> Option<Value> {
    let value = if json.trim().is_empty() { whole } else { serde_json::from_str(json).ok()? };
    match value {
        Value::Null => Some(Value::Object(Map::new())),
        Value::Object(_) => Some(value),
        _ => None,
    }
}
