//! Streams arrive whole, or end in exactly one failure that says what happened.

use std::time::Duration;

use futures_util::StreamExt as _;
use tillerman_models::anthropic::Anthropic;
use tillerman_ports::Model as _;
use tillerman_protocol::model::{FailureKind, ModelEvent};
use tillerman_protocol::stream::{Delta, StreamEvent};
use tokio::sync::oneshot;

use crate::asking::{RECORDED, config, events, only_failure, request};
use crate::loopback::{Loopback, Step, answer, stream_head, streamed};

async fn reported(stream: &str) -> Vec<ModelEvent> {
    let server = Loopback::answering(streamed(stream)).await;
    events(config(&server.base_url)).await
}

fn text(events: &[ModelEvent]) -> String {
    let deltas = events.iter().map(|event| match event {
        ModelEvent::Stream(StreamEvent::ContentBlockDelta {
            delta: Delta::TextDelta { text },
            ..
        }) => text.as_str(),
        _ => "",
    });
    deltas.collect()
}

fn is_complete(events: &[ModelEvent]) -> bool {
    matches!(events.last(), Some(ModelEvent::Stream(StreamEvent::MessageStop)))
}

#[tokio::test]
async fn a_whole_answer_is_reported_event_by_event() {
    let events = reported(RECORDED).await;
    let request_id = Some("req_011".to_owned());
    assert_eq!(events[0], ModelEvent::Accepted { request_id });
    assert_eq!(events.len(), 9);
    assert!(events.contains(&ModelEvent::Stream(StreamEvent::Ping)));
    assert_eq!(text(&events), "Grüße, Welt 🌍");
    assert!(is_complete(&events));
}

#[tokio::test]
async fn events_are_reported_while_the_answer_is_still_under_way() {
    let (open, gate) = oneshot::channel();
    let (first, rest) = RECORDED.split_at(RECORDED.find("event: ping").unwrap());
    let script = vec![Step::Send(streamed(first)), Step::Wait(gate), Step::Send(rest.into())];
    let server = Loopback::start(vec![script]).await;
    let mut stream = Anthropic::new(config(&server.base_url)).respond(request());
    for _ in 0..3 {
        assert!(stream.next().await.is_some());
    }
    open.send(()).unwrap();
    let rest: Vec<ModelEvent> = stream.collect().await;
    assert!(is_complete(&rest), "{rest:?}");
}

#[tokio::test]
async fn nothing_follows_the_end_of_the_message() {
    let events = reported(&format!("{RECORDED}event: x\ndata: not json\n\n")).await;
    assert!(is_complete(&events));
    only_failure(&reported("data: not json\n\ndata: {\"type\":\"ping\"}\n\n").await);
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte() {
    let script = vec![Step::Trickle(streamed(RECORDED))];
    let server = Loopback::start(vec![script]).await;
    let events = events(config(&server.base_url)).await;
    assert_eq!(text(&events), "Grüße, Welt 🌍");
    assert!(is_complete(&events));
}

#[tokio::test]
async fn a_cut_at_any_byte_ends_in_one_failure() {
    let head = String::from_utf8(stream_head()).unwrap();
    // With a length, the client can tell a cut from an end; without one it cannot.
    let length = format!("content-length: {}\r\n\r\n", RECORDED.len());
    let counted = head.replace("\r\n\r\n", &format!("\r\n{length}")) + RECORDED;
    let uncounted = head + RECORDED;
    for whole in [counted.into_bytes(), uncounted.into_bytes()] {
        let scripts = (0..whole.len()).map(|cut| vec![Step::Send(whole[..cut].to_vec())]);
        let mut server = Loopback::start(scripts.collect()).await;
        let provider = Anthropic::new(config(&server.base_url));
        for cut in 0..whole.len() {
            let events: Vec<ModelEvent> = provider.respond(request()).collect().await;
            server.received().await;
            if is_complete(&events) {
                assert!(cut + 1 >= whole.len(), "complete after {cut} bytes");
                continue;
            }
            let failure = only_failure(&events);
            if matches!(events[0], ModelEvent::Accepted { .. }) {
                assert_eq!(failure.kind, FailureKind::Stream, "after {cut} bytes");
                assert!(failure.message.contains("was cut"), "{}", failure.message);
            } else {
                assert_eq!(failure.kind, FailureKind::Connection, "after {cut} bytes");
            }
        }
    }
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_given_up_and_closed() {
    let (closed, was_closed) = oneshot::channel();
    let script = vec![Step::Send(streamed(&RECORDED[..300])), Step::AwaitClose(closed)];
    let server = Loopback::start(vec![script]).await;
    let mut config = config(&server.base_url);
    config.idle_timeout = Duration::from_millis(60);
    let events = events(config).await;
    let failure = only_failure(&events);
    assert_eq!(failure.kind, FailureKind::Stream);
    assert!(failure.message.contains("nothing came for 0.06 s"), "{}", failure.message);
    was_closed.await.unwrap();
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (closed, was_closed) = oneshot::channel();
    let script = vec![Step::Send(streamed(&RECORDED[..300])), Step::AwaitClose(closed)];
    let server = Loopback::start(vec![script]).await;
    let mut stream = Anthropic::new(config(&server.base_url)).respond(request());
    assert!(stream.next().await.is_some());
    drop(stream);
    was_closed.await.unwrap();
}

#[tokio::test]
async fn unusual_streams_are_understood() {
    let crlf = RECORDED.replace('\n', "\r\n");
    let cr = RECORDED.replace('\n', "\r");
    let marked = format!("\u{feff}: hello\n\n{RECORDED}");
    let unnamed: String = RECORDED
        .lines()
        .filter(|line| !line.starts_with("event"))
        .fold(String::new(), |all, line| all + line + "\n");
    let untyped = RECORDED.replace("{\"type\":\"message_stop\"}", "{}");
    let keepalive = format!("event: heartbeat\ndata:\n\n{RECORDED}");
    for stream in [crlf, cr, marked, unnamed, untyped, keepalive] {
        let events = reported(&stream).await;
        assert_eq!(text(&events), "Grüße, Welt 🌍", "{stream:?}");
        assert!(is_complete(&events), "{stream:?}");
        assert_eq!(events.len(), 9, "{stream:?}");
    }
}

#[tokio::test]
async fn unknown_events_and_deltas_pass_through() {
    let unknown = "event: news\ndata: {\"type\":\"news\",\"about\":1}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"new_delta\"}}\n\n";
    let events = reported(&format!("{unknown}{RECORDED}")).await;
    let ModelEvent::Stream(StreamEvent::Other(value)) = &events[1] else { panic!("{events:?}") };
    assert_eq!(value["about"], 1);
    assert!(matches!(
        &events[2],
        ModelEvent::Stream(StreamEvent::ContentBlockDelta { delta: Delta::Other(_), .. })
    ));
    assert!(is_complete(&events));
}

#[tokio::test]
async fn damaged_events_are_failures_of_the_stream() {
    for damage in [
        "data: {\"type\":\"message_start\"\n\n",
        "data: [DONE]\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{}}\n\n",
        "event: message_start\ndata: {}\n\n",
    ] {
        let events = reported(&format!("{damage}{RECORDED}")).await;
        assert_eq!(only_failure(&events).kind, FailureKind::Stream, "{damage}");
        assert_eq!(events.len(), 2, "{damage}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_and_what_came_before_is_kept() {
    let huge = format!("{}data: {}", &RECORDED[..300], "x".repeat(17 * 1024 * 1024));
    let events = reported(&huge).await;
    let failure = only_failure(&events);
    assert_eq!(failure.kind, FailureKind::Stream);
    assert!(failure.message.contains("longer than"), "{}", failure.message);
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn errors_in_the_stream_are_classified_by_their_type() {
    for (error_type, kind) in [
        ("overloaded_error", FailureKind::Overloaded),
        ("rate_limit_error", FailureKind::RateLimit),
        ("api_error", FailureKind::Server),
        ("timeout_error", FailureKind::Server),
        ("invalid_request_error", FailureKind::InvalidRequest),
        ("authentication_error", FailureKind::Authentication),
        ("permission_error", FailureKind::Authentication),
        ("billing_error", FailureKind::Billing),
        ("not_found_error", FailureKind::ModelUnavailable),
        ("brand_new_error", FailureKind::Server),
    ] {
        let error = format!("{{\"type\":\"{error_type}\",\"message\":\"Sorry\"}}");
        let data = format!("data: {{\"type\":\"error\",\"error\":{error}}}\n\n");
        for stream in [data.clone(), format!("event: error\n{data}")] {
            let events = reported(&stream).await;
            let failure = only_failure(&events);
            assert_eq!((failure.kind, failure.message.as_str()), (kind, "Sorry"), "{stream}");
        }
    }
    let events = reported("event: error\ndata: plain words\n\n").await;
    assert_eq!(only_failure(&events).message, "plain words");
}

#[tokio::test]
async fn a_document_instead_of_a_stream_is_a_failure() {
    let json = [("content-type", "application/json")];
    let error =
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}";
    let html = [("content-type", "text/html")];
    for (headers, body, kind) in [
        (json, error, FailureKind::Overloaded),
        (json, "{\"content\":[]}", FailureKind::Stream),
        (html, "<html>Log in</html>", FailureKind::Stream),
    ] {
        let server = Loopback::answering(answer(200, &headers, body)).await;
        let events = events(config(&server.base_url)).await;
        assert_eq!(only_failure(&events).kind, kind, "{body}");
        assert_eq!(events.len(), 1, "{body}");
    }
}
