//! What streams of OpenAI-compatible servers become.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tillerman_models::openai::OpenAiCompatible;
use tillerman_ports::Model as _;
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, Message, Role};

use crate::asking::request;
use crate::loopback::{Loopback, Step, stream_head, streamed};
use crate::openai_asking::{config, events, render, translated};

const DONE: &str = "[DONE]";

/// A chunk with this delta.
fn delta(delta: &Value) -> String {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta}]}).to_string()
}

/// A chunk that says why the model stopped.
fn finish(reason: &str) -> String {
    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
}

/// A chunk about one call.
fn call(call: &Value) -> String {
    delta(&json!({"tool_calls": [call]}))
}

async fn check(chunks: &[&str], expected: &[&str]) {
    let lines = translated(chunks).await;
    let (lead, rest) = lines.split_at(2);
    assert_eq!(lead, ["accepted", "start c1-1 m"]);
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn text_streams_and_usage_counts_cached_tokens_apart() {
    let usage = json!({"id": "c1", "choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}
    }});
    check(
        &[
            &delta(&json!({"role": "assistant", "content": ""})),
            &delta(&json!({"content": "Grüße, "})),
            &delta(&json!({"content": "Welt"})),
            &finish("stop"),
            &usage.to_string(),
            DONE,
        ],
        &[
            "0 open text",
            "0 text Grüße, ",
            "0 text Welt",
            "0 close",
            "outcome end_turn in=40 cached=60 out=7",
            "stop",
        ],
    )
    .await;
}

#[tokio::test]
async fn reasoning_becomes_thinking_before_the_text() {
    for field in ["reasoning_content", "reasoning"] {
        check(
            &[
                &delta(&json!({field: "Hmm, "})),
                &delta(&json!({field: "yes", "content": null})),
                &delta(&json!({"content": "Yes."})),
                &finish("length"),
                DONE,
            ],
            &[
                "0 open thinking",
                "0 thinking Hmm, ",
                "0 thinking yes",
                "0 close",
                "1 open text",
                "1 text Yes.",
                "1 close",
                // Nobody counted, so this is an estimate from what was sent and received.
                "outcome max_tokens in=54 cached=0 out=4",
                "stop",
            ],
        )
        .await;
    }
}

fn usage() -> String {
    json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}).to_string()
}

#[tokio::test]
async fn calls_stream_by_fragments_one_after_the_other() {
    check(
        &[
            &delta(&json!({"content": "Looking."})),
            &call(&json!({"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}})),
            &call(&json!({"index": 0, "function": {"arguments": "{\"x\""}})),
            &call(&json!({"index": 0, "function": {"arguments": ": 1}"}})),
            &call(&json!({"index": 1, "id": "b", "function": {"name": "Bash", "arguments": "{"}})),
            &call(&json!({"index": 1, "function": {"arguments": "}"}})),
            &finish("tool_calls"),
            &usage(),
            DONE,
        ],
        &[
            "0 open text",
            "0 text Looking.",
            "0 close",
            "1 open tool_use a Read",
            "1 json {\"x\"",
            "1 json : 1}",
            "1 close",
            "2 open tool_use b Bash",
            "2 json {",
            "2 json }",
            "2 close",
            "outcome tool_use in=5 cached=0 out=2",
            "stop",
        ],
    )
    .await;
}

#[tokio::test]
async fn interleaved_fragments_are_put_in_order() {
    check(
        &[
            &call(
                &json!({"index": 0, "id": "a", "function": {"name": "A", "arguments": "{\"x\":"}}),
            ),
            &call(
                &json!({"index": 1, "id": "b", "function": {"name": "B", "arguments": "{\"y\":"}}),
            ),
            &delta(&json!({"content": "meanwhile"})),
            &call(&json!({"index": 0, "function": {"arguments": "1}"}})),
            &call(&json!({"index": 1, "function": {"arguments": "2}"}})),
            &finish("stop"),
            &usage(),
            DONE,
        ],
        &[
            "0 open tool_use a A",
            "0 json {\"x\":",
            "0 json 1}",
            "0 close",
            "1 open tool_use b B",
            "1 json {\"y\":",
            "1 json 2}",
            "1 close",
            "2 open text",
            "2 text meanwhile",
            "2 close",
            "outcome tool_use in=5 cached=0 out=2",
            "stop",
        ],
    )
    .await;
}

#[tokio::test]
async fn whole_calls_without_ids_or_indexes_are_told_apart() {
    let whole =
        |name: &str, arguments: Value| json!({"function": {"name": name, "arguments": arguments}});
    let both = delta(
        &json!({"tool_calls": [whole("A", json!("{\"x\":1}")), whole("A", json!({"y": 2}))]}),
    );
    check(
        &[&both, &finish("stop"), &usage(), DONE],
        &[
            "0 open tool_use call_1_0_c11 A",
            "0 json {\"x\":1}",
            "0 close",
            "1 open tool_use call_1_1_c11 A",
            "1 json {\"y\":2}",
            "1 close",
            "outcome tool_use in=5 cached=0 out=2",
            "stop",
        ],
    )
    .await;
}

#[tokio::test]
async fn one_index_for_all_calls_and_calls_without_arguments_work() {
    check(
        &[
            &call(&json!({"index": 0, "id": "a", "function": {"name": "A", "arguments": ""}})),
            &call(&json!({"index": 0, "id": "b", "function": {"name": "B", "arguments": "{}"}})),
            &finish("tool_calls"),
            &usage(),
            DONE,
        ],
        &[
            "0 open tool_use a A",
            "0 json {}",
            "0 close",
            "1 open tool_use b B",
            "1 json {}",
            "1 close",
            "outcome tool_use in=5 cached=0 out=2",
            "stop",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_id_that_the_conversation_has_already_is_replaced() {
    let mut asked = request();
    let old =
        Block::ToolUse { id: ToolUseId::new("call_0"), name: "A".to_owned(), input: json!({}) };
    asked
        .messages
        .push(Message { role: Role::Assistant, content: Content::Blocks(vec![old]) }.into());
    let again =
        call(&json!({"index": 0, "id": "call_0", "function": {"name": "A", "arguments": "{}"}}));
    let text = format!("data: {again}\n\ndata: {}\n\ndata: [DONE]\n\n", finish("tool_calls"));
    let server = Loopback::answering(streamed(&text)).await;
    let lines: Vec<String> =
        events(config(&server.base_url), asked).await.iter().map(render).collect();
    assert_eq!(lines[2], "0 open tool_use call_2_0_c12 A");
}

#[tokio::test]
async fn refusals_and_filters_are_refusals() {
    let refused =
        translated(&[&delta(&json!({"refusal": "No."})), &finish("stop"), &usage(), DONE]).await;
    assert!(refused.contains(&"0 text No.".to_owned()), "{refused:?}");
    assert!(refused.contains(&"outcome refusal in=5 cached=0 out=2".to_owned()), "{refused:?}");
    let filtered = translated(&[&finish("content_filter"), &usage(), DONE]).await;
    assert!(filtered.contains(&"outcome refusal in=5 cached=0 out=2".to_owned()), "{filtered:?}");
}

#[tokio::test]
async fn an_answer_is_complete_without_done_but_not_without_a_reason() {
    let complete = translated(&[&delta(&json!({"content": "a"})), &finish("stop")]).await;
    assert_eq!(complete.last().unwrap(), "stop");
    assert_eq!(complete.iter().filter(|line| *line == "stop").count(), 1);

    let cut = translated(&[&delta(&json!({"content": "a"}))]).await;
    assert!(cut.last().unwrap().starts_with("failed Stream: the connection was cut"), "{cut:?}");
    assert!(!cut.contains(&"stop".to_owned()));
}

#[tokio::test]
async fn damaged_chunks_and_reported_errors_end_the_stream() {
    let damaged = translated(&["{\"choices\": [", DONE]).await;
    assert!(damaged.last().unwrap().starts_with("failed Stream: the response holds a chunk"));
    let reports = [
        (
            r#"{"error":{"message":"slow down","type":"x","code":429}}"#,
            "failed RateLimit: slow down",
        ),
        (
            r#"{"error":{"message":"broken","type":"server_error","code":null}}"#,
            "failed Server: broken",
        ),
        (r#"{"object":"error","message":"odd","code":400}"#, "failed InvalidRequest: odd"),
    ];
    for (report, expected) in reports {
        let lines = translated(&[&delta(&json!({"content": "a"})), report, DONE]).await;
        assert_eq!(lines.last().unwrap(), expected);
    }
}

#[tokio::test]
async fn events_arrive_before_the_stream_ends_and_dropping_it_closes_the_connection() {
    let (closed, was_closed) = tokio::sync::oneshot::channel();
    let first = format!("data: {}\n\n", delta(&json!({"content": "early"})));
    let script = vec![
        Step::Send(stream_head()),
        Step::Trickle(first.into_bytes()),
        Step::AwaitClose(closed),
    ];
    let server = Loopback::start(vec![script]).await;
    let mut stream = OpenAiCompatible::new(config(&server.base_url)).respond(request());
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "0 text early") {
        lines.push(render(&stream.next().await.unwrap()));
    }
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), was_closed).await.unwrap().unwrap();
}

#[tokio::test]
async fn silence_is_a_failure() {
    let (_keep, gate) = tokio::sync::oneshot::channel();
    let server = Loopback::start(vec![vec![Step::Send(stream_head()), Step::Wait(gate)]]).await;
    let mut config = config(&server.base_url);
    config.idle_timeout = Duration::from_millis(50);
    let lines: Vec<String> = events(config, request()).await.iter().map(render).collect();
    assert!(lines[1].starts_with("failed Stream: the response stopped arriving"), "{lines:?}");
    assert_eq!(lines.len(), 2);
}
