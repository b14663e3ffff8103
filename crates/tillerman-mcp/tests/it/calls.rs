//! Calls that work, take long, are cancelled or time out.

use std::time::Duration;

use serde_json::json;
use tillerman_protocol::tool::Access;
use tokio_util::sync::CancellationToken;

use crate::stage::{limits, named, scripts, with_script};

#[tokio::test]
async fn a_tool_is_called_by_its_full_name_and_answers() {
    let stage = with_script("well").await;
    assert_eq!(stage.text("echo", json!({"t": "hi"})).await, "ECHO:hi");
    let spec = stage.tool("mcp__s__echo").unwrap().spec();
    assert_eq!(spec.description, "echo things");
    assert_eq!(spec.access, Access::ReadOnly);
    assert_eq!(stage.tool("mcp__s__env").unwrap().spec().access, Access::Mutating);
    stage.end().await;
}

#[tokio::test]
async fn names_that_providers_refuse_are_made_plain() {
    let stage = with_script("well").await;
    assert_eq!(stage.text("we_ird_n_me", json!({})).await, "weird");
    stage.end().await;
}

#[tokio::test]
async fn a_child_sees_what_it_is_given_and_nothing_else() {
    let stage = with_script("well").await;
    let table =
        [("GIVEN", "given value"), ("OWN", "own value"), ("HOME", "None"), ("CARGO", "None")];
    for (name, expected) in table {
        assert_eq!(stage.text("env", json!({"name": name})).await, expected, "{name}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_server_is_told() {
    let stage = with_script("well").await;
    let cancel = CancellationToken::new();
    let running = stage.begin("slow", json!({}), cancel.clone());
    let (outcome, ()) = tokio::join!(running, async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert_eq!(outcome.unwrap_err().message, "The call was cancelled.");
    let told = |line: &String| line == "notifications/cancelled";
    stage.until("the cancellation", |stage| stage.log("s").iter().any(told)).await;
    assert_eq!(stage.text("echo", json!({"t": 1})).await, "ECHO:1");
    stage.end().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up_and_says_how_long_it_took() {
    let mut short = limits();
    short.call = Duration::from_millis(100);
    let stage = scripts(&[("s", "well")], short);
    stage.ready().await;
    let message = stage.failure("slow", json!({})).await;
    assert!(message.contains("did not answer within 0.1 s"), "{message}");
    assert!(message.contains("may have taken effect"), "{message}");
    stage.end().await;
}

#[tokio::test]
async fn a_server_may_have_its_own_limit() {
    let script = scripts(&[("s", "well")], limits());
    let path = script.path("server.py");
    let config = json!({"command": "python3", "args": [path, "well"], "timeout": 100});
    let stage = crate::stage::hub(vec![named("s", config)], limits());
    stage.ready().await;
    let message = stage.failure("slow", json!({})).await;
    assert!(message.contains("within 0.1 s"), "{message}");
    stage.end().await;
    script.end().await;
}

#[tokio::test]
async fn progress_reaches_the_host_with_the_call_it_belongs_to() {
    let stage = with_script("well").await;
    // The call's own id travels with it, so that servers can tell calls apart.
    assert_eq!(stage.text("progress", json!({})).await, "toolu_1");
    let progress = stage.host.progress.lock().unwrap().clone();
    assert_eq!(progress[0].tool_name, "mcp__s__progress");
    assert_eq!(progress[0].tool_use_id.as_str(), "toolu_1");
    assert_eq!((progress[0].progress, progress[0].total), (1.0, Some(2.0)));
    assert_eq!(progress[0].message.as_deref(), Some("step"));
    assert_eq!(progress.len(), 1, "steps in quick succession are one");
    stage.end().await;
}

#[tokio::test]
async fn a_servers_question_goes_to_the_host_and_its_answer_back() {
    let stage = with_script("well").await;
    stage.host.answers(|_| Some(Ok(json!({"action": "accept", "content": {"name": "Ada"}}))));
    let text = stage.text("ask", json!({})).await;
    assert_eq!(text, r#"{"action": "accept", "content": {"name": "Ada"}}"#);
    let asked = stage.host.asked.lock().unwrap()[0].clone();
    assert_eq!(asked["subtype"], "elicitation");
    assert_eq!(asked["mcp_server_name"], "s");
    assert_eq!(asked["message"], "Your name?");
    assert_eq!(asked["requested_schema"]["properties"]["name"]["type"], "string");
    stage.end().await;
}

#[tokio::test]
async fn fields_that_a_person_leaves_as_they_are_have_the_forms_own_values() {
    let stage = with_script("well").await;
    for (answer, sent) in [
        (json!({"action": "accept"}), r#"{"action": "accept", "content": {"name": "Bob"}}"#),
        (
            json!({"action": "accept", "content": {"name": "Ada"}}),
            r#"{"action": "accept", "content": {"name": "Ada"}}"#,
        ),
        (json!({"action": "decline"}), r#"{"action": "decline"}"#),
    ] {
        stage.host.answers(move |_| Some(Ok(answer.clone())));
        assert_eq!(stage.text("ask", json!({"default": "Bob"})).await, sent);
    }
    let asked = stage.host.asked.lock().unwrap()[0].clone();
    assert_eq!(asked["requested_schema"]["properties"]["name"]["default"], "Bob");
    stage.end().await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_declined() {
    let stage = with_script("well").await;
    assert_eq!(stage.text("ask", json!({})).await, r#"{"action": "decline"}"#);
    stage.end().await;
}

#[tokio::test]
async fn a_call_of_the_host_needs_no_model() {
    let stage = with_script("well").await;
    let result = stage.hub.call("mcp__s__echo", json!({"t": "host"})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "ECHO:host");
    let refusal = stage.hub.call("mcp__s__nothing", json!({})).await.unwrap_err();
    assert_eq!(refusal.0, "There is no tool called mcp__s__nothing");
    stage.end().await;
}
