//! Requests look as the API wants them, and consecutive ones share their prefix.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tillerman_models::anthropic::{Anthropic, AnthropicConfig, CachePolicy, Credential};
use tillerman_models::secret::Secret;
use tillerman_ports::Model as _;
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};
use tillerman_protocol::model::{ModelRequest, SystemBlock, Thinking};
use tillerman_protocol::tool::{Access, ToolSpec};

use crate::asking::{KEY, config, request, said};
use crate::loopback::{Loopback, Received, answer};

const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// What the server sees of a request.
async fn sent(change: impl FnOnce(&mut AnthropicConfig), request: ModelRequest) -> Received {
    let mut server = Loopback::answering(answer(500, &[], "")).await;
    let mut config = config(&server.base_url);
    change(&mut config);
    let mut stream = Anthropic::new(config).respond(request);
    drop(futures_util::StreamExt::next(&mut stream).await);
    server.received().await
}

async fn body(request: ModelRequest) -> Value {
    sent(|_| {}, request).await.json()
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object"}),
        access: Access::ReadOnly,
    }
}

fn blocks(role: Role, blocks: Value) -> Arc<Message> {
    let content = Content::Blocks(serde_json::from_value(blocks).unwrap());
    Arc::new(Message { role, content })
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("not an object: {value}") };
    map
}

#[tokio::test]
async fn a_request_has_exactly_these_fields() {
    let mut asked = request();
    asked.model = "claude-opus-4-6".to_owned();
    asked.tools = vec![tool("Read"), tool("Write")].into();
    asked.thinking = Thinking::Adaptive;
    asked.effort = Some("high".to_owned());
    let mark = json!({"type": "ephemeral"});
    let schema = json!({"type": "object"});
    let expected = json!({
        "model": "claude-opus-4-6",
        "max_tokens": 1000,
        "stream": true,
        "tools": [
            {"name": "Read", "description": "Does Read.", "input_schema": schema},
            {"name": "Write", "description": "Does Write.", "input_schema": schema},
        ],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "metadata": {"user_id": "a-session"},
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Hello", "cache_control": mark},
        ]}],
    });
    assert_eq!(body(asked).await, expected);
}

#[tokio::test]
async fn what_is_empty_is_left_out() {
    let mut asked = request();
    asked.system = vec![SystemBlock { text: " \n".to_owned() }];
    asked.session = String::new();
    let fields: Vec<String> = object(body(asked).await).into_iter().map(|(key, _)| key).collect();
    assert_eq!(fields, ["model", "max_tokens", "stream", "messages"]);
}

#[tokio::test]
async fn headers_identify_the_caller_and_the_betas() {
    let mut asked = request();
    asked.betas = vec!["beta-c".to_owned(), "beta-a".to_owned()];
    let change = |config: &mut AnthropicConfig| {
        config.betas = vec!["beta-a".to_owned(), "beta-b".to_owned()];
        config.custom_headers = vec![
            ("Anthropic-Beta".to_owned(), "beta-x, beta-y".to_owned()),
            ("x-team".to_owned(), "blue".to_owned()),
            ("user-agent".to_owned(), "mine".to_owned()),
        ];
    };
    let received = sent(change, asked).await;
    assert!(received.head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", received.head);
    for (name, value) in [
        ("x-api-key", KEY),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "beta-x,beta-y,beta-a,beta-b,beta-c"),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("x-team", "blue"),
        ("user-agent", "mine"),
    ] {
        assert_eq!(received.header(name), Some(value), "{name}");
    }
    assert_eq!(received.header("authorization"), None);
}

#[tokio::test]
async fn a_large_window_is_asked_for_by_a_beta() {
    let mut asked = request();
    asked.model.push_str("[1m]");
    let received = sent(|_| {}, asked).await;
    assert_eq!(received.header("anthropic-beta"), Some("context-1m-2025-08-07"));
    assert_eq!(received.json()["model"], request().model);
}

#[tokio::test]
async fn a_bearer_token_goes_into_the_authorization_header() {
    let change = |config: &mut AnthropicConfig| {
        config.credential = Credential::Bearer(Secret::new(" token-123\n"));
        config.base_url.push_str("/gateway/?region=eu");
    };
    let received = sent(change, request()).await;
    let line = "POST /gateway/v1/messages?region=eu HTTP/1.1\r\n";
    assert!(received.head.starts_with(line), "{}", received.head);
    assert_eq!(received.header("authorization"), Some("Bearer token-123"));
    assert_eq!(received.header("x-api-key"), None);
    assert_eq!(received.header("anthropic-beta"), None);
    let user_agent = concat!("tillerman/", env!("CARGO_PKG_VERSION"));
    assert_eq!(received.header("user-agent"), Some(user_agent));
}

#[tokio::test]
async fn thinking_budgets_fit_the_limits() {
    for (budget, limit, expected_budget, expected_limit) in [
        (4_000, 32_000, 4_000, 32_000),
        (10, 32_000, 1_024, 32_000),
        (32_000, 32_000, 32_000, 36_096),
        (2_000, 500, 2_000, 2_500),
        (u32::MAX, 1, u64::from(u32::MAX), u64::from(u32::MAX) + 1),
    ] {
        let mut asked = request();
        (asked.thinking, asked.max_tokens) = (Thinking::Budget(budget), limit);
        let body = body(asked).await;
        let expected = json!({"type": "enabled", "budget_tokens": expected_budget});
        assert_eq!((&body["thinking"], &body["max_tokens"]), (&expected, &json!(expected_limit)));
    }
    let mut asked = request();
    asked.thinking = Thinking::Disabled;
    assert_eq!(body(asked).await["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn extra_fields_outrank_everything_but_streaming() {
    let mut asked = request();
    asked.model = "claude-opus-4-6".to_owned();
    asked.effort = Some("low".to_owned());
    asked.extra_body = object(json!({
        "temperature": 1, "top_k": 2, "output_config": {"format": "x"}, "stream": false,
    }));
    let change = |config: &mut AnthropicConfig| {
        config.extra_body = object(json!({"temperature": 0, "metadata": {"user_id": "me"}}));
    };
    let body = sent(change, asked).await.json();
    assert_eq!(body["temperature"], 1);
    assert_eq!(body["top_k"], 2);
    assert_eq!(body["output_config"], json!({"effort": "low", "format": "x"}));
    assert_eq!(body["metadata"], json!({"user_id": "me"}));
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn blank_texts_and_empty_messages_are_not_sent() {
    let mut asked = request();
    let result = |content| ToolResult { tool_use_id: "t1".into(), content, is_error: false };
    asked.messages = vec![
        said(Role::User, "  "),
        blocks(Role::User, json!([])),
        blocks(Role::User, json!([{"type": "text", "text": "\n"}, {"type": "text", "text": "a"}])),
        Arc::new(Message {
            role: Role::User,
            content: Content::Blocks(vec![
                Block::ToolResult(result(Content::Text(String::new()))),
                Block::ToolResult(result(Content::Blocks(vec![Block::text(" ")]))),
                Block::ToolResult(result(Content::Blocks(vec![Block::text(""), Block::text("b")]))),
            ]),
        }),
    ];
    let received = sent(|config| config.cache = CachePolicy::Off, asked).await;
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1"},
            {"type": "tool_result", "tool_use_id": "t1"},
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "b"}]},
        ]},
    ]);
    assert_eq!(received.json()["messages"], expected);
}

/// A conversation in which every kind of block appears, and marks that are not ours.
fn conversation() -> Vec<Arc<Message>> {
    let foreign = json!({"type": "ephemeral", "ttl": "1h"});
    vec![
        said(Role::User, "Look around"),
        blocks(
            Role::Assistant,
            json!([
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "Looking", "citations": null},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
            ]),
        ),
        blocks(
            Role::User,
            json!([
                {"type": "tool_result", "tool_use_id": "t1", "content": "A", "is_error": true},
                {"type": "text", "text": "And this?", "cache_control": foreign},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}},
                {"type": "document", "source": {"type": "text"}, "cache_control": foreign},
            ]),
        ),
        said(Role::Assistant, "Nice"),
        blocks(Role::User, json!([{"type": "future_block", "x": 1, "cache_control": foreign}])),
        said(Role::User, "Go on"),
    ]
}

#[tokio::test]
async fn consecutive_requests_extend_the_same_prefix() {
    let conversation = conversation();
    let mut before: Option<String> = None;
    for count in 1..=conversation.len() {
        let mut asked = request();
        asked.tools = vec![tool("Read")].into();
        asked.messages = conversation[..count].to_vec();
        let text = String::from_utf8(sent(|_| {}, asked).await.body).unwrap();
        let marks = text.matches("cache_control").count();
        assert!((1..=4).contains(&marks), "{marks} marks in {text}");
        let stripped = text.replace(MARK, "");
        assert!(!stripped.contains("cache_control"), "{stripped}");
        let open = stripped.strip_suffix("]}").unwrap().to_owned();
        if let Some(before) = before.replace(open.clone()) {
            assert!(open.starts_with(&before), "{before}\nis no prefix of\n{open}");
        }
    }
}

#[tokio::test]
async fn blocks_are_sent_as_they_came() {
    let mut asked = request();
    asked.messages = conversation()[1..2].to_vec();
    let received = sent(|config| config.cache = CachePolicy::Off, asked.clone()).await.json();
    let expected = serde_json::to_value(&*asked.messages[0]).unwrap();
    assert_eq!(received["messages"][0], expected);
}

#[tokio::test]
async fn the_mark_stands_on_the_last_block_that_takes_one() {
    let marked = |message: Value| -> Vec<bool> {
        let content = message["content"].as_array().unwrap().clone();
        content.iter().map(|block| block.get("cache_control").is_some()).collect()
    };
    let mut asked = request();
    asked.messages = vec![blocks(
        Role::Assistant,
        json!([
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "N", "input": {}},
            {"type": "thinking", "thinking": "", "signature": "s"},
        ]),
    )];
    assert_eq!(marked(body(asked.clone()).await["messages"][0].clone()), [false, true, false]);
    asked.messages.push(blocks(Role::User, json!([{"type": "document"}, {"type": "novelty"}])));
    assert_eq!(marked(body(asked).await["messages"][1].clone()), [true, false]);
}

#[tokio::test]
async fn cache_policies_choose_the_mark() {
    let mut asked = request();
    asked.system.clear();
    asked.tools = vec![tool("Read"), tool("Write")].into();
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let body = sent(|config| config.cache = CachePolicy::OneHour, asked.clone()).await.json();
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert_eq!(body["tools"][1]["cache_control"], hour);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], hour);
    let received = sent(|config| config.cache = CachePolicy::Off, asked).await;
    assert!(!String::from_utf8(received.body).unwrap().contains("cache_control"));
}

#[tokio::test]
async fn tokens_are_counted_for_the_same_prompt() {
    let mut server = Loopback::answering(answer(200, &[], "{\"input_tokens\":42}")).await;
    let mut asked = request();
    asked.thinking = Thinking::Budget(2_000);
    asked.extra_body = object(json!({"temperature": 1, "tool_choice": {"type": "auto"}}));
    let counted = Anthropic::new(config(&server.base_url)).count_tokens(asked).await;
    assert_eq!(counted, Ok(42));
    let received = server.received().await;
    let line = "POST /v1/messages/count_tokens HTTP/1.1\r\n";
    assert!(received.head.starts_with(line), "{}", received.head);
    let body = object(received.json());
    let fields: Vec<&str> = body.keys().map(String::as_str).collect();
    assert_eq!(fields, ["model", "system", "thinking", "tool_choice", "messages"]);
}

#[tokio::test]
async fn models_are_sent_only_what_they_take() {
    let cases = [
        ("claude-sonnet-4-5", "max", json!({"type": "enabled", "budget_tokens": 4000}), None),
        (
            "claude-opus-4-5-20251101",
            "max",
            json!({"type": "enabled", "budget_tokens": 4000}),
            Some("high"),
        ),
        ("claude-opus-4-6[1m]", "xhigh", json!({"type": "adaptive"}), Some("high")),
        ("claude-opus-4-6", "max", json!({"type": "adaptive"}), Some("max")),
        ("a-model-of-tomorrow", "xhigh", json!({"type": "adaptive"}), Some("xhigh")),
    ];
    for (model, wanted, thinking, effort) in cases {
        let mut asked = request();
        (asked.model, asked.max_tokens) = (model.to_owned(), 8_000);
        (asked.thinking, asked.effort) = (Thinking::Adaptive, Some(wanted.to_owned()));
        let body = body(asked).await;
        assert_eq!(body["thinking"], thinking, "{model}");
        assert_eq!(body["output_config"]["effort"].as_str(), effort, "{model}");
    }
}
