//! What OpenAI-compatible servers are sent.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_models::openai::{Dialect, OpenAiConfig};
use tillerman_protocol::content::Message;
use tillerman_protocol::model::{ModelRequest, SystemBlock};
use tillerman_protocol::tool::{Access, ToolSpec};

use crate::asking::{KEY, request};
use crate::loopback::{Loopback, Received, streamed};
use crate::openai_asking::{config, events};

async fn sent(
    request: ModelRequest,
    adjust: impl FnOnce(OpenAiConfig) -> OpenAiConfig,
) -> Received {
    let mut server = Loopback::answering(streamed("data: [DONE]\n\n")).await;
    events(adjust(config(&server.base_url)), request).await;
    server.received().await
}

fn conversation(messages: Value) -> ModelRequest {
    let messages: Vec<Message> = serde_json::from_value(messages).unwrap();
    ModelRequest { messages: messages.into_iter().map(Arc::new).collect(), ..request() }
}

#[tokio::test]
async fn a_request_has_the_usual_fields() {
    let mut asked = request();
    asked.system.push(SystemBlock { text: "Use metric units.".to_owned() });
    asked.extra_body.insert("seed".to_owned(), json!(7));
    let received = sent(asked, |config| config).await;
    assert!(received.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", received.head);
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received.header("user-agent"), Some("a-test/1"));
    assert_eq!(
        received.json(),
        json!({
            "model": "claude-haiku-4-5",
            "messages": [
                {"role": "system", "content": "Be brief.\n\nUse metric units."},
                {"role": "user", "content": "Hello"},
            ],
            "max_tokens": 1000,
            "stream": true,
            "stream_options": {"include_usage": true},
            "seed": 7,
        })
    );
}

#[tokio::test]
async fn the_dialect_names_the_limit_and_a_key_is_optional() {
    let mut asked = request();
    asked.model = "openai:gpt-5".to_owned();
    asked.effort = Some("max".to_owned());
    let received = sent(asked, |config| OpenAiConfig {
        api_key: None,
        dialect: Dialect::OpenAi,
        max_output_tokens: Some(300),
        custom_headers: vec![("x-team".to_owned(), "boats".to_owned())],
        base_url: config.base_url.replace("/v1", "/v1/chat/completions/"),
        ..config
    })
    .await;
    assert!(received.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", received.head);
    assert_eq!(received.header("authorization"), None);
    assert_eq!(received.header("x-team"), Some("boats"));
    let body = received.json();
    assert_eq!(body["model"], "gpt-5");
    assert_eq!(body["max_completion_tokens"], 300);
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body.get("max_tokens"), None);
}

#[tokio::test]
async fn tools_become_functions() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = ToolSpec {
        name: "Read".to_owned(),
        description: "Reads a file.".to_owned(),
        input_schema: schema.clone(),
        access: Access::ReadOnly,
    };
    let asked = ModelRequest { tools: vec![tool].into(), ..request() };
    assert_eq!(
        sent(asked, |config| config).await.json()["tools"],
        json!([{"type": "function", "function": {
            "name": "Read", "description": "Reads a file.", "parameters": schema
        }}])
    );
}

#[tokio::test]
async fn calls_results_and_pictures_find_their_places() {
    let picture = json!({"type": "image", "source": {
        "type": "base64", "media_type": "image/jpeg", "data": "AAAA"
    }});
    let asked = conversation(json!([
        {"role": "user", "content": [
            {"type": "text", "text": "Compare"},
            picture,
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hmm", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
            {"type": "tool_use", "id": "t2", "name": "Read", "input": {}},
            {"type": "tool_use", "id": "t3", "name": "Bash", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [
                {"type": "text", "text": "a picture:"}, picture
            ]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "gone", "is_error": true},
            {"type": "text", "text": "Mind the time."},
            {"type": "tool_result", "tool_use_id": "t3", "content": ""},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "only", "signature": "s"}
        ]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t4", "name": "Bash", "input": {}}
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t4", "content": "ok"},
            {"type": "document", "source": {"type": "base64", "data": "AAAA"}},
            {"type": "document", "source": {"type": "text", "data": "plain"}},
        ]},
    ]));
    let uri = json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}});
    let function = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let body = sent(asked, |config| config).await.json();
    assert_eq!(
        body["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "user", "content": [
                {"type": "text", "text": "Compare"},
                uri,
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            ]}),
            json!({"role": "assistant", "content": "I look.", "tool_calls": [
                function("t1", "Read", "{\"path\":\"a\"}"),
                function("t2", "Read", "{}"),
                function("t3", "Bash", "{}"),
            ]}),
            json!({"role": "tool", "tool_call_id": "t1",
                "content": "a picture:\n[the picture follows in the next message]"}),
            json!({"role": "tool", "tool_call_id": "t2", "content": "Error: gone"}),
            json!({"role": "tool", "tool_call_id": "t3", "content": "(no output)"}),
            json!({"role": "user", "content": [uri, {"type": "text", "text": "Mind the time."}]}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                function("t4", "Bash", "{}"),
            ]}),
            json!({"role": "tool", "tool_call_id": "t4", "content": "ok"}),
            json!({"role": "user", "content":
                "[a block of type document that this provider cannot read]\nplain"}),
        ]
    );
}
