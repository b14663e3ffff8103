//! A stage for rehearsals: a session's tools and a world that answers their calls.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tillerman_models::rehearsal::{Rehearsal, RehearsalNote};
use tillerman_ports::Model as _;
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};
use tillerman_protocol::model::{ModelEvent, ModelRequest, SystemBlock, Thinking};
use tillerman_protocol::stream::{Delta, StreamEvent};
use tillerman_protocol::tool::{Access, ToolSpec};

pub(crate) const ALL: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "AskUserQuestion",
    "Agent",
    "TodoWrite",
    "WebFetch",
    "mcp__shop__price",
];

pub(crate) fn request(messages: Vec<Message>, tools: &[&str]) -> ModelRequest {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        input_schema: json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "more": {}},
            "required": ["name", "kind"]
        }),
        access: Access::Mutating,
    };
    ModelRequest {
        model: "rehearsal".to_owned(),
        system: vec![SystemBlock {
            text: "You help.\nWorking directory: /home/ann/project\n".to_owned(),
        }],
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: tools.iter().map(spec).collect(),
        max_tokens: 1000,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        session: "s".to_owned(),
        extra_body: serde_json::Map::new(),
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message { role: Role::User, content: Content::Text(text.to_owned()) }
}

pub(crate) async fn respond(request: ModelRequest) -> Vec<ModelEvent> {
    Rehearsal::new(RehearsalNote::NoKey).respond(request).collect().await
}

/// Folds a response into its blocks and checks its order on the way.
pub(crate) fn fold(events: &[ModelEvent]) -> (Vec<Block>, String) {
    assert!(matches!(events[0], ModelEvent::Accepted { .. }));
    assert!(matches!(events[1], ModelEvent::Stream(StreamEvent::MessageStart { .. })));
    assert_eq!(events.last(), Some(&ModelEvent::Stream(StreamEvent::MessageStop)));
    let (mut blocks, mut stop_reason) = (Vec::new(), String::new());
    let mut open: Option<(Value, String, usize)> = None;
    for event in &events[2..events.len() - 1] {
        let ModelEvent::Stream(event) = event else { panic!("unexpected {event:?}") };
        match event {
            StreamEvent::ContentBlockStart { index, content_block } => {
                assert!(open.is_none());
                assert_eq!(*index as usize, blocks.len());
                open = Some((content_block.clone(), String::new(), 0));
            }
            StreamEvent::ContentBlockDelta { delta, .. } => {
                let (_, text, pieces) = open.as_mut().unwrap();
                *pieces += 1;
                match delta {
                    Delta::TextDelta { text: more } => text.push_str(more),
                    Delta::InputJsonDelta { partial_json } => text.push_str(partial_json),
                    other => panic!("unexpected {other:?}"),
                }
            }
            StreamEvent::ContentBlockStop { .. } => {
                let (start, text, pieces) = open.take().unwrap();
                assert!(pieces > 1, "{text} came in one piece");
                blocks.push(if start["type"] == "text" {
                    Block::text(text)
                } else {
                    Block::ToolUse {
                        id: ToolUseId::new(start["id"].as_str().unwrap()),
                        name: start["name"].as_str().unwrap().to_owned(),
                        input: serde_json::from_str(&text).unwrap(),
                    }
                });
            }
            StreamEvent::MessageDelta { delta, usage } => {
                assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
                stop_reason = delta.stop_reason.clone().unwrap();
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    (blocks, stop_reason)
}

/// A conversation that was played to its end.
pub(crate) struct Played {
    /// The calls of each response.
    pub(crate) responses: Vec<Vec<(String, Value)>>,
    pub(crate) answer: String,
}

/// Plays a conversation to its end with a world that answers calls.
pub(crate) async fn play_on(
    messages: &mut Vec<Message>,
    tools: &[&str],
    world: impl Fn(&str, &Value) -> Result<String, String>,
) -> Played {
    let mut responses = Vec::new();
    for _ in 0..20 {
        let (blocks, stop_reason) = fold(&respond(request(messages.clone(), tools)).await);
        messages.push(Message { role: Role::Assistant, content: Content::Blocks(blocks.clone()) });
        if stop_reason == "end_turn" {
            let [Block::Text { text, .. }] = &blocks[..] else { panic!("no single text") };
            return Played { responses, answer: text.clone() };
        }
        assert_eq!(stop_reason, "tool_use");
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for block in blocks {
            let Block::ToolUse { id, name, input } = block else { panic!("no call") };
            let outcome = world(&name, &input);
            let is_error = outcome.is_err();
            let content = Content::Text(outcome.unwrap_or_else(|message| message));
            results.push(Block::ToolResult(ToolResult { tool_use_id: id, content, is_error }));
            calls.push((name, input));
        }
        responses.push(calls);
        messages.push(Message { role: Role::User, content: Content::Blocks(results) });
    }
    panic!("the rehearsal does not end")
}

pub(crate) async fn play(
    prompt: &str,
    tools: &[&str],
    world: impl Fn(&str, &Value) -> Result<String, String>,
) -> Played {
    play_on(&mut vec![user(prompt)], tools, world).await
}

pub(crate) fn fine(_: &str, _: &Value) -> Result<String, String> {
    Ok("fine".to_owned())
}

/// Calls in one line each: the tool and the fields of its input that say what it does.
pub(crate) fn render(calls: &[(String, Value)]) -> String {
    const FIELDS: &[&str] = &[
        "command",
        "file_path",
        "content",
        "old_string",
        "new_string",
        "pattern",
        "path",
        "prompt",
        "subagent_type",
        "run_in_background",
        "url",
        "name",
        "kind",
    ];
    let one = |(tool, input): &(String, Value)| {
        let mut line = tool.clone();
        for value in FIELDS.iter().filter_map(|field| input.get(field)) {
            line.push(' ');
            line.push_str(value.as_str().map_or(value.to_string(), str::to_owned).as_str());
        }
        line
    };
    calls.iter().map(one).collect::<Vec<_>>().join(" + ")
}
