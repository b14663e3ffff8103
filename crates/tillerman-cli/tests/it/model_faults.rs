//! Models that refuse, break off, fall silent or talk nonsense, seen through the whole binary.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tillerman_testkit::{Reply, Response, ScriptBuilder, ScriptedServer, fault, response, script};

use crate::harness::{FRAMES_OUT, Finished, Launch, World};

/// What became of a prompt that met some faults.
struct Outcome {
    world: World,
    server: ScriptedServer,
    finished: Finished,
}

impl Outcome {
    fn retries(&self) -> Vec<Value> {
        let frames = self.finished.frames().into_iter();
        frames.filter(|frame| frame["subtype"] == "api_retry").collect()
    }

    fn requests(&self) -> usize {
        self.server.requests().len()
    }
}

/// Sends one prompt to a model that answers with these replies.
async fn meet(replies: Vec<Reply>, adjust: impl FnOnce(Launch) -> Launch) -> Outcome {
    let world = World::new();
    let all = replies.into_iter().fold(script(), ScriptBuilder::reply);
    let server = ScriptedServer::start(all).await;
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT).args(["hello"]);
    let finished = adjust(launch).run().await;
    finished.assert_no_panic();
    Outcome { world, server, finished }
}

/// Like `meet`, with a good answer at the end that must be the result.
async fn recovers(faults: Vec<Reply>, adjust: impl FnOnce(Launch) -> Launch) -> Outcome {
    let faulty = faults.len();
    let replies = faults.into_iter().chain([response().text("recovered").into()]).collect();
    let outcome = meet(replies, adjust).await;
    outcome.finished.assert_code(0);
    assert_eq!(outcome.finished.result()["result"], "recovered");
    assert_eq!(outcome.requests(), faulty + 1);
    outcome.server.verify();
    outcome
}

fn as_it_is(launch: Launch) -> Launch {
    launch
}

/// A refusal that may be repeated almost at once.
fn brief(status: u16) -> fault::StatusFault {
    fault::status(status).header("retry-after-ms", "10")
}

#[tokio::test]
async fn a_rate_limit_with_a_delay_is_waited_out() {
    let started = Instant::now();
    let outcome = recovers(vec![fault::status(429).retry_after(1).into()], as_it_is).await;
    assert!(started.elapsed() >= Duration::from_secs(1), "the delay was not honoured");
    let [retry] = outcome.retries().try_into().unwrap();
    assert_eq!(retry["attempt"], 1);
    assert_eq!(retry["error_status"], 429);
    assert_eq!(retry["error"], "rate_limit");
    let delay = retry["retry_delay_ms"].as_u64().unwrap();
    assert!((1_000..1_250).contains(&delay), "{delay}");
}

#[tokio::test]
async fn a_rate_limit_without_a_delay_backs_off() {
    let outcome = recovers(vec![fault::status(429).into()], as_it_is).await;
    let delay = outcome.retries()[0]["retry_delay_ms"].as_u64().unwrap();
    assert!((500..625).contains(&delay), "{delay}");
}

#[tokio::test]
async fn a_delay_beyond_patience_is_told_instead_of_waited() {
    let outcome = meet(vec![fault::status(429).retry_after(3_600).into()], as_it_is).await;
    outcome.finished.assert_code(1);
    assert!(outcome.retries().is_empty());
    let result = outcome.finished.result();
    assert_eq!(result["api_error_status"], 429);
    assert!(result["result"].as_str().unwrap().contains("Wait a while"), "{result}");
}

#[tokio::test]
async fn busy_servers_are_asked_again_and_not_for_ever() {
    for (status, error) in
        [(529, "overloaded"), (500, "server_error"), (502, "server_error"), (503, "server_error")]
    {
        let outcome = recovers(vec![brief(status).into()], as_it_is).await;
        assert_eq!(outcome.retries()[0]["error"], error, "{status}");

        let faults = (0..3).map(|_| brief(status).into()).collect();
        let twice = |launch: Launch| launch.env("CLAUDE_CODE_MAX_RETRIES", "2");
        let outcome = meet(faults, twice).await;
        outcome.finished.assert_code(1);
        assert_eq!(outcome.requests(), 3, "{status}");
        let attempts: Vec<Value> =
            outcome.retries().iter().map(|retry| retry["attempt"].clone()).collect();
        assert_eq!(attempts, [json!(1), json!(2)]);
        let result = outcome.finished.result();
        assert_eq!(result["is_error"], true);
        assert_eq!(result["api_error_status"], status);
    }
}

#[tokio::test]
async fn a_server_may_forbid_repetition() {
    let outcome = meet(vec![fault::status(500).says_do_not_retry().into()], as_it_is).await;
    outcome.finished.assert_code(1);
    assert_eq!(outcome.requests(), 1);
}

#[tokio::test]
async fn refusals_are_told_at_once_with_what_to_do() {
    for (status, message, advice) in [
        (400, "messages: at least one message is required", "at least one message"),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", "Start a new session"),
        (401, "invalid x-api-key", "ANTHROPIC_API_KEY"),
        (403, "your key may not use this model", "ANTHROPIC_API_KEY"),
        (413, "request exceeds the maximum size", "maximum size"),
    ] {
        let outcome = meet(vec![fault::status(status).message(message).into()], as_it_is).await;
        outcome.finished.assert_code(1);
        assert_eq!(outcome.requests(), 1, "{status} was repeated");
        assert!(outcome.retries().is_empty());
        let result = outcome.finished.result();
        let text = result["result"].as_str().unwrap();
        assert!(text.starts_with(&format!("API Error: {status} ")), "{text}");
        assert!(text.contains(advice), "{text}");
        assert_eq!(result["api_error_status"], status);
    }
}

/// The address of a port on which nobody listens.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_and_then_told() {
    let address = nobody();
    let elsewhere = |launch: Launch| {
        launch.env("ANTHROPIC_BASE_URL", &address).env("CLAUDE_CODE_MAX_RETRIES", "1")
    };
    let outcome = meet(Vec::new(), elsewhere).await;
    outcome.finished.assert_code(1);
    let [retry] = outcome.retries().try_into().unwrap();
    assert!((500..625).contains(&retry["retry_delay_ms"].as_u64().unwrap()), "{retry}");
    assert_eq!(retry["error_status"], Value::Null);
    let result = outcome.finished.result();
    let text = result["result"].as_str().unwrap();
    assert!(text.contains("cannot connect to 127.0.0.1"), "{text}");
    assert!(text.contains("ANTHROPIC_BASE_URL"), "{text}");
}

#[tokio::test]
async fn a_connection_that_is_not_secure_is_never_used() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let insecure = server.url().replace("http://", "https://");
    let launch = world.tillerman().asks(&server).env("ANTHROPIC_BASE_URL", insecure);
    let finished = launch.args(FRAMES_OUT).args(["hello"]).run().await;
    finished.assert_code(1).assert_no_panic();
    let text = finished.result()["result"].as_str().unwrap().to_owned();
    assert!(text.contains("no secure connection"), "{text}");
    assert!(!finished.frames().iter().any(|frame| frame["subtype"] == "api_retry"));
    assert!(server.requests().is_empty());
}

fn text_and_call() -> Response {
    let append = json!({ "command": "echo ran >> log" });
    response().text("I will write a line.").tool_call("Bash", append).delta_chars(8)
}

#[tokio::test]
async fn a_stream_cut_anywhere_runs_no_half_call_and_goes_on() {
    // All of it is about 2,200 bytes; the call is whole only near the end.
    let cuts = [0, 1, 90, 300, 420, 700, 1_000, 1_250, 1_500, 1_750, 1_950, 2_050, 2_150];
    let outcomes = join_all(cuts.map(|bytes| async move {
        let cut = text_and_call().disconnect_after_bytes(bytes);
        (bytes, recovers(vec![cut.into()], as_it_is).await)
    }));
    let mut ran = 0;
    for (bytes, outcome) in outcomes.await {
        let frames = outcome.finished.frames();
        let is_call = |frame: &Value| frame["message"]["content"][0]["type"] == "tool_use";
        let shown = frames.iter().any(is_call);
        let log = std::fs::read_to_string(outcome.world.file("log")).unwrap_or_default();
        assert_eq!(log, if shown { "ran\n" } else { "" }, "cut after {bytes} bytes");
        ran += usize::from(shown);
        let texts = frames.iter().filter_map(|f| f["message"]["content"][0]["text"].as_str());
        let beginnings = texts.filter(|text| text.starts_with("I will")).count();
        assert!(beginnings <= 1, "cut after {bytes} bytes: the text was shown twice");
    }
    assert!((1..cuts.len() / 2).contains(&ran), "{ran} of the cuts came after the whole call");
}

#[tokio::test]
async fn a_stream_that_always_breaks_ends_in_an_error_that_keeps_the_text() {
    let cut = || response().text("half a sentence and").delta_chars(6).disconnect_after_events(4);
    let once = |launch: Launch| launch.env("CLAUDE_CODE_MAX_RETRIES", "1");
    let outcome = meet(vec![cut().into(), cut().into()], once).await;
    outcome.finished.assert_code(1);
    assert_eq!(outcome.finished.result()["is_error"], true);
    let stored = outcome.world.entries();
    let texts: Vec<&str> =
        stored.iter().filter_map(|entry| entry["message"]["content"][0]["text"].as_str()).collect();
    assert!(texts.contains(&"half a"), "{texts:?}");
}

fn impatient(launch: Launch) -> Launch {
    launch.env("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "300")
}

#[tokio::test]
async fn a_half_open_stream_is_given_up_after_the_idle_time() {
    let started = Instant::now();
    let silent = response().text("then nothing").delta_chars(4).half_open_after_events(4);
    let outcome = recovers(vec![silent.into()], impatient).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(outcome.retries().len(), 1);
}

#[tokio::test]
async fn a_slow_stream_is_not_a_silent_one() {
    let text = "slow but steady ".repeat(30);
    let started = Instant::now();
    let slow = response().text(&text).delta_chars(16).slow(100, Duration::from_millis(15));
    let outcome = meet(vec![slow.into()], impatient).await;
    outcome.finished.assert_code(0);
    assert_eq!(outcome.finished.result()["result"], text);
    assert!(outcome.retries().is_empty());
    assert!(started.elapsed() > Duration::from_millis(400), "the test was not slow at all");
}

fn event(kind: &str, fields: &Value) -> String {
    let mut data = json!({ "type": kind });
    data.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("event: {kind}\ndata: {data}\n\n")
}

fn head() -> String {
    let message = json!({ "id": "msg_raw", "type": "message", "role": "assistant",
        "model": "m", "content": [], "usage": { "input_tokens": 3, "output_tokens": 1 } });
    event("message_start", &json!({ "message": message }))
}

fn opened(index: usize, block: &Value) -> String {
    event("content_block_start", &json!({ "index": index, "content_block": block }))
}

fn grown(index: usize, text: &str) -> String {
    let delta = json!({ "type": "text_delta", "text": text });
    event("content_block_delta", &json!({ "index": index, "delta": delta }))
}

fn closed(index: usize) -> String {
    event("content_block_stop", &json!({ "index": index }))
}

fn tail() -> String {
    let delta = json!({ "stop_reason": "end_turn", "stop_sequence": null });
    let usage = json!({ "output_tokens": 5 });
    event("message_delta", &json!({ "delta": delta, "usage": usage }))
        + &event("message_stop", &json!({}))
}

fn answer(text: &str) -> String {
    let block = json!({ "type": "text", "text": "" });
    head() + &opened(0, &block) + &grown(0, text) + &closed(0) + &tail()
}

#[tokio::test]
async fn unusual_streams_are_understood() {
    let unknown = event("party_started", &json!({ "guests": 3 }));
    let cases = [
        answer("fine").replace('\n', "\r\n"),
        format!("\u{feff}{}", answer("fine")),
        answer("fine").replace("event: content", ": a comment\nid: 7\nevent: content"),
        format!("{unknown}{}", answer("fine")),
        answer("fine").replace(
            "event: content_block_stop\n",
            &format!("{unknown}event: content_block_stop\n"),
        ),
        answer("fine").replace("data: {\"type\":\"ping\"}", "data:{\"type\":\"ping\"}"),
    ];
    let pieces = cases.iter().flat_map(|raw| [3, 100_000].map(|bytes| (raw, bytes)));
    let outcomes = join_all(pieces.map(|(raw, bytes)| async move {
        let reply = fault::raw_stream(raw).slow(bytes, Duration::ZERO);
        (raw, meet(vec![reply.into()], as_it_is).await)
    }));
    for (raw, outcome) in outcomes.await {
        outcome.finished.assert_code(0);
        assert_eq!(outcome.finished.result()["result"], "fine", "{raw}");
        assert!(outcome.retries().is_empty());
    }
}

/// Streams that break off the attempt: it is repeated, and nothing of it stays.
async fn each_is_repeated(streams: Vec<(&'static str, String)>) {
    let outcomes = join_all(streams.into_iter().map(|(name, raw)| async move {
        (name, recovers(vec![fault::raw_stream(raw).into()], as_it_is).await)
    }));
    for (name, outcome) in outcomes.await {
        let [retry] = outcome.retries().try_into().unwrap();
        assert_eq!(retry["error"], "server_error", "{name}");
        assert!(!outcome.world.file("log").exists(), "{name}: a call of a broken stream ran");
    }
}

fn call_block() -> Value {
    json!({ "type": "tool_use", "id": "toolu_x", "name": "Bash", "input": {} })
}

#[tokio::test]
async fn malformed_streams_fail_the_attempt_and_not_the_session() {
    let text = || json!({ "type": "text", "text": "" });
    let huge = format!("data: {}", "x".repeat(17 << 20));
    each_is_repeated(vec![
        ("bad JSON", head() + "event: content_block_start\ndata: {\"type\":\n\n"),
        ("nothing at all", String::new()),
        ("an endless line", head() + &huge),
        ("an index twice", head() + &opened(0, &text()) + &opened(0, &text()) + &tail()),
        ("a block without end", head() + &opened(0, &text()) + &grown(0, "hm") + &tail()),
        ("no end of the message", head() + &opened(0, &text()) + &grown(0, "and th")),
        ("a page", "<html>it works!</html>".to_owned()),
    ])
    .await;
}

#[tokio::test]
async fn impossible_streams_fail_the_attempt_and_run_nothing() {
    let json_delta = |index: usize| {
        let delta =
            json!({ "type": "input_json_delta", "partial_json": "{\"command\":\"touch log\"}" });
        event("content_block_delta", &json!({ "index": index, "delta": delta }))
    };
    let text = || json!({ "type": "text", "text": "" });
    each_is_repeated(vec![
        ("a delta before the message", grown(0, "early") + &tail()),
        ("a delta before its block", head() + &json_delta(0) + &closed(0) + &tail()),
        ("an end before the start", head() + &closed(0) + &tail()),
        ("a text that grows by a call", head() + &opened(0, &text()) + &json_delta(0) + &tail()),
        (
            "a call that grows by text",
            head() + &opened(0, &call_block()) + &grown(0, "x") + &tail(),
        ),
        ("two starts", head() + &head() + &tail()),
        ("an end without a start", tail()),
        ("a call that never ends", head() + &opened(0, &call_block()) + &json_delta(0) + &tail()),
    ])
    .await;
}

#[tokio::test]
async fn an_error_in_the_stream_is_repeated() {
    let error = response().text("hm").error_after_events(3, "overloaded_error", "too busy");
    let outcome = recovers(vec![error.into()], as_it_is).await;
    assert_eq!(outcome.retries()[0]["error"], "overloaded");
}

#[tokio::test]
async fn a_call_that_comes_twice_runs_once() {
    let append = json!({ "command": "echo ran >> log" });
    let call = || response().tool_call_with_id("toolu_same", "Bash", append.clone());
    let outcome = recovers(vec![call().into(), call().into()], as_it_is).await;
    let log = std::fs::read_to_string(outcome.world.file("log")).unwrap();
    assert_eq!(log, "ran\n");
}

#[tokio::test]
async fn a_call_that_comes_twice_in_one_response_runs_once() {
    let append = json!({ "command": "echo ran >> log" });
    let twice = response()
        .tool_call_with_id("toolu_same", "Bash", append.clone())
        .tool_call_with_id("toolu_same", "Bash", append);
    let outcome = recovers(vec![twice.into()], as_it_is).await;
    let log = std::fs::read_to_string(outcome.world.file("log")).unwrap();
    assert_eq!(log, "ran\n");
}
