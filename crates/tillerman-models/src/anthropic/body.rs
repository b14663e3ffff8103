//! The body of a request, written straight from the borrowed conversation.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use tillerman_protocol::catalog::LARGE_WINDOW_ENDING;
use tillerman_protocol::content::{Content, Role};
use tillerman_protocol::model::{ModelRequest, Thinking};
use tillerman_protocol::tool::ToolSpec;

use crate::abilities::abilities;

use super::block::{BlockView, CacheControl, block_views};
use super::config::CachePolicy;

/// The smallest thinking budget the API accepts.
const MIN_THINKING_BUDGET: u64 = 1_024;
/// The room for the answer that is kept beside a thinking budget which would fill the limit.
const ROOM_BESIDE_THINKING: u64 = 4_096;

/// What a body is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An answer.
    Respond,
    /// The size of the prompt.
    CountTokens,
}

impl Purpose {
    /// Where the body goes, below the base URL.
    pub(super) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Respond => &["v1", "messages"],
            Self::CountTokens => &["v1", "messages", "count_tokens"],
        }
    }

    /// Whether the endpoint knows a top-level field.
    fn admits(self, field: &str) -> bool {
        const ONLY_FOR_ANSWERS: [&str; 8] = [
            "max_tokens",
            "metadata",
            "stream",
            "temperature",
            "top_p",
            "top_k",
            "stop_sequences",
            "service_tier",
        ];
        self == Self::Respond || !ONLY_FOR_ANSWERS.contains(&field)
    }
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) request: &'a ModelRequest,
    /// Fields the configuration adds.
    pub(super) extra_body: &'a Map<String, Value>,
    pub(super) cache: CachePolicy,
    pub(super) purpose: Purpose,
}

impl Serialize for Body<'_> {
    /// Everything that stays the same within a session comes first and the messages last, so that
    /// the body of a request is a prefix of the next one's, but for its cache marks.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mark = CacheControl::of(self.cache);
        let system = system_views(request, mark);
        let tools = tool_views(&request.tools, mark.filter(|_| system.is_empty()));
        let mut fields = Fields {
            map: serializer.serialize_map(None)?,
            purpose: self.purpose,
            extra: self.merged_extra(),
        };
        // The ending is for us; the provider is told by a beta feature.
        let model = request.model.strip_suffix(LARGE_WINDOW_ENDING);
        fields.put("model", &model.unwrap_or(&request.model))?;
        fields.put("max_tokens", &max_tokens(request))?;
        fields.put("stream", &true)?;
        if !tools.is_empty() {
            fields.put("tools", &tools)?;
        }
        if !system.is_empty() {
            fields.put("system", &system)?;
        }
        fields.put_object("thinking", thinking(fitting_thinking(request)))?;
        let effort = request.effort.as_deref();
        let effort = effort.and_then(|wanted| abilities(&request.model).nearest_effort(wanted));
        fields.put_object("output_config", effort.map(|effort| json!({"effort": effort})))?;
        let user = Some(&request.session).filter(|session| !session.is_empty());
        fields.put_object("metadata", user.map(|session| json!({"user_id": session})))?;
        fields.put_extra()?;
        fields.put("messages", &message_views(request, mark))?;
        fields.map.end()
    }
}

impl Body<'_> {
    fn merged_extra(&self) -> Map<String, Value> {
        let mut extra = self.extra_body.clone();
        extra.extend(self.request.extra_body.clone());
        // An answer that does not stream could not be read.
        extra.remove("stream");
        // How thoughts are shown means nothing, and is refused, where there are none.
        let thinks = matches!(self.request.thinking, Thinking::Adaptive | Thinking::Budget(_));
        if let Some(Value::Object(thinking)) = extra.get_mut("thinking")
            && !thinks
            && !thinking.contains_key("type")
        {
            extra.remove("thinking");
        }
        extra
    }
}

/// The body's fields, in which extra fields outrank our own.
struct Fields<M> {
    map: M,
    purpose: Purpose,
    extra: Map<String, Value>,
}

impl<M: SerializeMap> Fields<M> {
    fn put(&mut self, name: &'static str, value: &impl Serialize) -> Result<(), M::Error> {
        if self.extra.contains_key(name) || !self.purpose.admits(name) {
            return Ok(());
        }
        self.map.serialize_entry(name, value)
    }

    /// Writes an object together with what the extra fields say about its members.
    fn put_object(&mut self, name: &'static str, ours: Option<Value>) -> Result<(), M::Error> {
        let Some(Value::Object(mut ours)) = ours else { return Ok(()) };
        match self.extra.get_mut(name) {
            Some(Value::Object(theirs)) => {
                ours.append(theirs);
                *theirs = ours;
                Ok(())
            }
            _ => self.put(name, &ours),
        }
    }

    fn put_extra(&mut self) -> Result<(), M::Error> {
        for (name, value) in self.extra.iter().filter(|(name, _)| self.purpose.admits(name)) {
            self.map.serialize_entry(name, value)?;
        }
        Ok(())
    }
}

/// The thinking that was asked for in a form that the model knows: one which cannot choose how much
/// to think is given half of the room.
fn fitting_thinking(request: &ModelRequest) -> Thinking {
    match request.thinking {
        Thinking::Adaptive if !abilities(&request.model).thinks_adaptively => {
            Thinking::Budget(u32::try_from(request.max_tokens / 2).unwrap_or(u32::MAX))
        }
        other => other,
    }
}

fn thinking(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::Unset => None,
        Thinking::Adaptive => Some(json!({"type": "adaptive"})),
        Thinking::Budget(tokens) => {
            Some(json!({"type": "enabled", "budget_tokens": thinking_budget(tokens)}))
        }
        Thinking::Disabled => Some(json!({"type": "disabled"})),
    }
}

fn thinking_budget(tokens: u32) -> u64 {
    u64::from(tokens).max(MIN_THINKING_BUDGET)
}

/// The limit for the whole answer, which must exceed the part reserved for thinking.
fn max_tokens(request: &ModelRequest) -> u64 {
    match fitting_thinking(request) {
        Thinking::Budget(tokens) if thinking_budget(tokens) >= request.max_tokens => {
            thinking_budget(tokens) + request.max_tokens.clamp(1, ROOM_BESIDE_THINKING)
        }
        _ => request.max_tokens,
    }
}

#[derive(serde::Serialize)]
struct TextView<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

fn system_views(request: &ModelRequest, mark: Option<CacheControl>) -> Vec<TextView<'_>> {
    let texts = request.system.iter().map(|block| block.text.as_str());
    let mut views: Vec<TextView<'_>> = texts
        .filter(|text| !text.trim().is_empty())
        .map(|text| TextView { kind: "text", text, cache_control: None })
        .collect();
    if let Some(last) = views.last_mut() {
        last.cache_control = mark;
    }
    views
}

#[derive(serde::Serialize)]
struct ToolView<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

fn tool_views(tools: &[ToolSpec], mark: Option<CacheControl>) -> Vec<ToolView<'_>> {
    let mut views: Vec<ToolView<'_>> = tools
        .iter()
        .map(|ToolSpec { name, description, input_schema, .. }| ToolView {
            name,
            description,
            input_schema,
            cache_control: None,
        })
        .collect();
    if let Some(last) = views.last_mut() {
        last.cache_control = mark;
    }
    views
}

#[derive(serde::Serialize)]
struct MessageView<'a> {
    role: Role,
    content: MessageContent<'a>,
}

/// A text is always sent as a block: it must not change its shape when the mark moves on.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text([TextView<'a>; 1]),
    Blocks(Vec<BlockView<'a>>),
}

impl MessageContent<'_> {
    fn mark_last(&mut self, mark: CacheControl) {
        match self {
            Self::Text([text]) => text.cache_control = Some(mark),
            Self::Blocks(blocks) => {
                if let Some(block) = blocks.iter_mut().rev().find(|block| block.takes_mark()) {
                    block.mark(mark);
                }
            }
        }
    }
}

fn message_views(request: &ModelRequest, mark: Option<CacheControl>) -> Vec<MessageView<'_>> {
    let mut views: Vec<MessageView<'_>> = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let content = match &message.content {
            Content::Text(text) if text.trim().is_empty() => continue,
            Content::Text(text) => {
                MessageContent::Text([TextView { kind: "text", text, cache_control: None }])
            }
            Content::Blocks(blocks) => match block_views(blocks) {
                blocks if blocks.is_empty() => continue,
                blocks => MessageContent::Blocks(blocks),
            },
        };
        views.push(MessageView { role: message.role, content });
    }
    if let (Some(mark), Some(last)) = (mark, views.last_mut()) {
        last.content.mark_last(mark);
    }
    views
}
