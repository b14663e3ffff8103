//! Captured requests answer the questions tests have.

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::client::{conversation, post, request};

#[tokio::test]
async fn a_request_is_captured_with_headers_and_body() {
    let server = ScriptedServer::start(script().reply(response().text("hello"))).await;
    post(&server.url(), &request("hi")).await;

    let captured = server.single_request();
    assert_eq!(captured.body, request("hi"));
    assert_eq!(captured.header("x-api-key"), Some("dummy"));
    assert_eq!((captured.method.as_str(), captured.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(captured.model(), "test-model");
    assert_eq!(captured.tool_names(), ["Bash"]);
    assert_eq!(captured.system_text(), "Be brief.");
    assert_eq!(captured.user_text(), "hi");
    assert_eq!(captured.last_text(), "hi");
}

#[tokio::test]
async fn the_context_is_one_line_per_item() {
    let server = ScriptedServer::start(script().reply(response().text("hello"))).await;
    let body = conversation(json!([
        { "role": "user", "content": format!("two\nlines{}", "x".repeat(200)) },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "s" },
            { "type": "tool_use", "id": "a", "name": "Bash", "input": { "command": "ls" } },
            { "type": "tool_use", "id": "b", "name": "Read", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "a", "content": "file.txt" },
            { "type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [
                { "type": "text", "text": "broken" },
                { "type": "image", "source": { "type": "base64" } },
            ] },
        ] },
    ]));
    post(&server.url(), &body).await;

    let expected = [
        "system: Be brief.".to_owned(),
        "tools: Bash".to_owned(),
        format!("user text: two\\nlines{}… (110 more)", "x".repeat(90)),
        "assistant thinking: hm".to_owned(),
        r#"assistant tool_use: a Bash {"command":"ls"}"#.to_owned(),
        "assistant tool_use: b Read {}".to_owned(),
        "user tool_result: a ok file.txt".to_owned(),
        r"user tool_result: b error broken\n[image]".to_owned(),
    ];
    assert_eq!(server.render_context(0), expected.join("\n"));

    let captured = server.single_request();
    let results = captured.tool_results();
    assert_eq!(results.len(), 2);
    assert!(results[1].is_error);
    assert_eq!(captured.tool_result_texts(), ["file.txt", "broken"]);
    assert_eq!(captured.tool_calls()[1]["name"], "Read");
}

#[tokio::test]
#[should_panic(expected = "exactly one request was expected, but 0 arrived")]
async fn no_request_is_not_a_single_request() {
    let server = ScriptedServer::start(script()).await;
    drop(server.single_request());
}

#[tokio::test]
#[should_panic(expected = "1 replies of the script were never asked for")]
async fn a_reply_nobody_asked_for_fails_the_test() {
    ScriptedServer::start(script().reply(response().text("x"))).await.verify();
}

#[tokio::test]
#[should_panic(expected = "request 0: the last message is not from the user")]
async fn a_refused_request_fails_the_test() {
    let server = ScriptedServer::start(script()).await;
    let messages =
        json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }]);
    assert_eq!(post(&server.url(), &conversation(messages)).await.status, 400);
    server.verify();
}
