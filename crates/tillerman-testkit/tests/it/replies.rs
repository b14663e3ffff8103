//! Replies arrive as the real API would send them.

use serde_json::json;
use tillerman_protocol::stream::Usage;
use tillerman_testkit::{Script, ScriptedServer, response, script};

use crate::client::{conversation, post, post_to, request};

#[tokio::test]
async fn a_stream_has_every_event_in_order() {
    let reply = response()
        .thinking("hm")
        .text("hello")
        .tool_call("Bash", json!({ "command": "ls" }))
        .delta_chars(3);
    let server = ScriptedServer::start(script().reply(reply)).await;

    let received = post(&server.url(), &request("hi")).await;

    assert_eq!(received.status, 200);
    assert!(received.complete);
    assert!(received.headers.contains("content-type: text/event-stream"));
    assert!(received.headers.contains("request-id: req_0000"));
    let events = received.events();
    assert_eq!(
        received.event_types(),
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(events[0]["message"]["model"], "test-model");
    assert_eq!(events[4]["delta"], json!({ "type": "signature_delta", "signature": "c2lnbmVk" }));
    assert_eq!(events[8]["delta"], json!({ "type": "text_delta", "text": "lo" }));
    assert_eq!(
        events[10]["content_block"],
        json!({ "type": "tool_use", "name": "Bash", "input": {}, "id": "toolu_0000_2" })
    );
    let input: String = events[11..17]
        .iter()
        .map(|event| event["delta"]["partial_json"].as_str().unwrap())
        .collect();
    assert_eq!(input, r#"{"command":"ls"}"#);
    assert_eq!(events[18]["delta"]["stop_reason"], "tool_use");
    server.verify();
}

#[tokio::test]
async fn a_request_without_a_stream_gets_one_object() {
    let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
    let reply = response().text("hello").usage(usage).stop_reason("max_tokens").model("other");
    let server = ScriptedServer::start(script().reply(reply)).await;
    let mut body = request("hi");
    body["stream"] = false.into();

    let message = post(&server.url(), &body).await.json();

    assert_eq!(message["content"], json!([{ "type": "text", "text": "hello" }]));
    assert_eq!(message["stop_reason"], "max_tokens");
    assert_eq!(message["model"], "other");
    assert_eq!(
        (&message["usage"]["input_tokens"], &message["usage"]["output_tokens"]),
        (&json!(7), &json!(3))
    );
}

#[tokio::test]
async fn replies_are_taken_in_order_and_the_end_of_the_script_is_a_problem() {
    let server =
        ScriptedServer::start(script().reply(response().text("one")).reply(response().text("two")))
            .await;

    for expected in ["one", "two"] {
        assert!(post(&server.url(), &request("hi")).await.body.contains(expected));
    }
    let past_the_end = post(&server.url(), &request("hi")).await;

    assert_eq!(past_the_end.status, 500);
    assert!(past_the_end.headers.contains("x-should-retry: false"));
    assert_eq!(server.problems(), ["request 2: the script has 2 replies and all are taken"]);
}

#[tokio::test]
async fn a_function_decides_by_the_request() {
    let script = Script::from_fn(|request| response().text(request.last_text()).into());
    let server = ScriptedServer::start(script).await;
    assert!(post(&server.url(), &request("echo me")).await.body.contains("echo me"));
}

#[tokio::test]
async fn a_tool_loop_counts_results_since_the_last_prompt() {
    let script = Script::tool_loop(1, "Bash", json!({ "command": "true" }));
    let server = ScriptedServer::start(script).await;
    let call = json!([{ "type": "tool_use", "id": "a", "name": "Bash", "input": {} }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "a", "content": "x" }]);
    let mut messages = json!([{ "role": "user", "content": "go" }]);
    let mut stop_reasons = Vec::new();
    for next in [
        json!([{ "role": "assistant", "content": call }, { "role": "user", "content": result }]),
        json!([{ "role": "assistant", "content": "done" }, { "role": "user", "content": "again" }]),
        json!([]),
    ] {
        let received = post(&server.url(), &conversation(messages.clone())).await;
        let events = received.events();
        let outcome = &events[events.len() - 2];
        stop_reasons.push(outcome["delta"]["stop_reason"].as_str().unwrap().to_owned());
        messages.as_array_mut().unwrap().extend(next.as_array().unwrap().clone());
    }
    assert_eq!(stop_reasons, ["tool_use", "end_turn", "tool_use"]);
}

#[tokio::test]
async fn a_script_is_read_from_json() {
    let text = r#"{"replies": [{"status": 429, "retry_after": 2},
        {"text": "hi", "tools": [{"name": "Bash", "input": {"command": "ls"}}]}]}"#;
    let server = ScriptedServer::start(Script::from_json(text).unwrap()).await;

    let refused = post(&server.url(), &request("hi")).await;
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains("retry-after: 2"));
    assert!(post(&server.url(), &request("hi")).await.body.contains("toolu_0001_1"));
    server.verify();

    assert!(Script::from_json(r#"{"replies": [{"txet": "hi"}]}"#).is_err());
}

#[tokio::test]
async fn tokens_are_counted_and_other_addresses_are_unknown() {
    let server = ScriptedServer::start(script()).await;

    let counted = post_to(&server.url(), "/v1/messages/count_tokens", &request("hi")).await;
    assert!(counted.json()["input_tokens"].as_u64().unwrap() > 1);
    assert_eq!(post_to(&server.url(), "/v1/other", &json!({})).await.status, 404);

    let paths: Vec<_> = server.other_requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/messages/count_tokens", "/v1/other"]);
    assert!(server.requests().is_empty());
}
