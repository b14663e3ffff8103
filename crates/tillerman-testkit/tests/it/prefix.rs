//! Requests of a conversation may only grow at the end.

use serde_json::{Value, json};
use tillerman_testkit::{Response, ScriptBuilder, ScriptedServer, response, script};

use crate::client::{conversation, post, request};

fn second(first: &str, answer: &str) -> Value {
    conversation(json!([
        { "role": "user", "content": first },
        { "role": "assistant", "content": answer },
        { "role": "user", "content": "and then?" },
    ]))
}

/// Plays requests against a server and checks the prefix rule, with this reply to the last one.
async fn check(requests: &[Value], last: Response) {
    let ordinary = requests.iter().skip(1).map(|_| response().text("ok"));
    let replies = ordinary.chain([last]).fold(script(), ScriptBuilder::reply);
    let server = ScriptedServer::start(replies).await;
    for body in requests {
        assert_eq!(post(&server.url(), body).await.status, 200);
    }
    server.assert_prefix_stable();
}

#[tokio::test]
async fn growth_at_the_end_is_stable_whatever_the_breakpoints() {
    let mut later = second("hi", "hello");
    later["system"][0]["cache_control"] = json!({ "type": "ephemeral" });
    let content =
        json!([{ "type": "text", "text": "hi", "cache_control": { "type": "ephemeral" } }]);
    later["messages"][0]["content"] = content;
    check(&[request("hi"), request("hi"), later], response().text("ok")).await;
}

#[tokio::test]
async fn conversations_side_by_side_do_not_disturb_each_other() {
    let mut helper = request("helper");
    helper["system"] = "Another system prompt.".into();
    let requests = [request("hi"), helper, second("hi", "hello")];
    check(&requests, response().text("ok")).await;
}

#[tokio::test]
#[should_panic(expected = "request 2 does not continue request 1: content block 1 (assistant)")]
async fn a_changed_answer_is_found() {
    let requests = [request("hi"), second("hi", "hello"), second("hi", "HELLO")];
    check(&requests, response().text("ok")).await;
}

#[tokio::test]
#[should_panic(expected = "request 1 does not continue request 0: the system prompt")]
async fn a_changed_system_prompt_is_found() {
    let mut later = second("hi", "hello");
    later["system"] = "Be long.".into();
    check(&[request("hi"), later], response().text("ok")).await;
}

#[tokio::test]
#[should_panic(expected = "request 1 continues a conversation that no earlier request began")]
async fn a_changed_beginning_is_found() {
    check(&[request("hi"), second("hi!", "hello")], response().text("ok")).await;
}

#[tokio::test]
async fn a_script_may_say_that_the_prefix_moves() {
    let last = response().text("ok").moves_prefix("the conversation was compacted");
    check(&[request("hi"), second("summary", "hello")], last).await;
}
