//! Requests that the real API would refuse are refused here.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::client::{conversation, post, request};

/// What the server says about a request; nothing when it is good.
async fn judge(body: &Value) -> String {
    let server = ScriptedServer::start(script().reply(response().text("ok"))).await;
    let received = post(&server.url(), body).await;
    let problems = server.problems();
    assert_eq!(received.status, if problems.is_empty() { 200 } else { 400 });
    assert_eq!(server.single_request().problems.is_empty(), problems.is_empty());
    problems.join("\n")
}

/// Judges messages and expects this problem.
async fn refused(expected: &str, messages: Value) {
    let said = judge(&conversation(messages)).await;
    assert!(said.contains(expected), "expected {expected:?} in {said:?}");
}

fn user(content: impl Into<Value>) -> Value {
    json!({ "role": "user", "content": content.into() })
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({ "role": "assistant", "content": content.into() })
}

fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "x" })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[tokio::test]
async fn good_conversations_pass() {
    for messages in [
        json!([user("hi")]),
        json!([user("hi"), user("are you there?")]),
        json!([
            user("hi"),
            assistant([call("a"), call("b")]),
            user([result("b")]),
            user([result("a")])
        ]),
        json!([user("hi"), assistant([call("a")]), user([result("a"), text("note")])]),
        json!([user("hi"), { "role": "system", "content": "note" }, user("go on")]),
    ] {
        assert_eq!(judge(&conversation(messages)).await, "");
    }
}

#[tokio::test]
async fn tool_calls_and_results_must_match() {
    let go = || user("hi");
    refused("tool_use a without a tool_result", json!([go(), assistant([call("a")]), go()])).await;
    refused("tool_result b without a tool_use", json!([go(), assistant("x"), user([result("b")])]))
        .await;
    let twice = json!([go(), assistant([call("a")]), user([result("a"), result("a")])]);
    refused("two tool_results for one tool_use", twice).await;
    let late = json!([go(), assistant([call("a")]), user([text("note"), result("a")])]);
    refused("must come first", late).await;
    refused("tool_use id a is used twice", json!([go(), assistant([call("a"), call("a")]), go()]))
        .await;
    refused("tool_use in a user message", json!([user([call("a")])])).await;
    refused("tool_result in an assistant", json!([go(), assistant([result("a")]), go()])).await;
    let input = json!({ "type": "tool_use", "id": "a", "name": "Bash", "input": "ls" });
    refused("input is no object", json!([go(), assistant([input]), user([result("a")])])).await;
}

#[tokio::test]
async fn messages_must_be_well_formed() {
    refused("messages is missing or empty", json!([])).await;
    refused("role \"robot\" is unknown", json!([{ "role": "robot", "content": "x" }])).await;
    refused("the first message is not from the user", json!([assistant("x"), user("y")])).await;
    refused("the last message is not from the user", json!([user("x"), assistant("y")])).await;
    refused("messages.0: blank text block", json!([user([text(" \n")])])).await;
    refused("messages.0: content is empty", json!([user("")])).await;
    let unsigned = json!({ "type": "thinking", "thinking": "hm", "signature": "" });
    refused("without a signature", json!([user("x"), assistant([unsigned]), user("y")])).await;
    refused("image without a source", json!([user([json!({ "type": "image" })])])).await;
}

#[tokio::test]
async fn parameters_must_be_well_formed() {
    let schema = json!({ "type": "object" });
    let five = json!(vec![json!({ "type": "text", "text": "x", "cache_control": {} }); 5]);
    for (expected, key, value) in [
        ("model is missing", "model", json!("")),
        ("max_tokens", "max_tokens", json!(0)),
        ("budget_tokens", "thinking", json!({ "type": "enabled", "budget_tokens": 1024 })),
        ("system: blank text block", "system", json!([{ "type": "text", "text": "" }])),
        ("more than 4 blocks carry cache_control", "system", five),
        (
            "tool A is defined twice",
            "tools",
            json!([{ "name": "A", "input_schema": schema }, { "name": "A", "input_schema": schema }]),
        ),
        ("bad tool name", "tools", json!([{ "name": "a b", "input_schema": schema }])),
        ("no input_schema", "tools", json!([{ "name": "A" }])),
    ] {
        let mut body = request("hi");
        body[key] = value;
        let said = judge(&body).await;
        assert!(said.contains(expected), "expected {expected:?} in {said:?}");
    }
    assert!(judge(&json!("no object")).await.contains("not a JSON object"));
}

#[tokio::test]
async fn data_of_tools_may_speak_of_cache_control() {
    let data = json!({ "x": vec![json!({ "cache_control": {} }); 9] });
    let mut calling = call("a");
    calling["input"] = data;
    let messages = json!([user("hi"), assistant([calling]), user([result("a")])]);
    assert_eq!(judge(&conversation(messages)).await, "");
}

#[tokio::test]
async fn a_refused_request_takes_no_reply() {
    let server = ScriptedServer::start(script().reply(response().text("the answer"))).await;
    post(&server.url(), &json!({})).await;
    assert!(post(&server.url(), &request("hi")).await.body.contains("the answer"));
}
