//! Every fault reaches the client the way the script says.

use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_testkit::{Outcome, Reply, ScriptedServer, fault, response, script};
use tokio::io::AsyncReadExt as _;

use crate::client::{Received, post, read_until, request, send};

async fn play(reply: impl Into<Reply>) -> Received {
    let server = ScriptedServer::start(script().reply(reply)).await;
    post(&server.url(), &request("hi")).await
}

#[tokio::test]
async fn statuses_carry_the_error_type_of_the_api() {
    for (status, kind) in [
        (400, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ] {
        let received = play(fault::status(status).message("because")).await;
        assert_eq!(received.status, status);
        let error = json!({ "type": "error", "error": { "type": kind, "message": "because" } });
        assert_eq!(received.json(), error);
        assert!(!received.headers.contains("retry-after"));
    }
}

#[tokio::test]
async fn statuses_carry_retry_headers() {
    let received = play(fault::status(529).retry_after(3).says_do_not_retry()).await;
    assert!(received.headers.contains("retry-after: 3"));
    assert!(received.headers.contains("x-should-retry: false"));
    let received = play(fault::status(400).says_retry().header("x-more", "yes")).await;
    assert!(received.headers.contains("x-should-retry: true"));
    assert!(received.headers.contains("x-more: yes"));
}

#[tokio::test]
async fn a_disconnect_after_events_delivers_exactly_those() {
    for events in [0, 1, 4] {
        let received = play(response().text("hello").disconnect_after_events(events)).await;
        assert_eq!(received.status, 200);
        assert_eq!(received.events().len(), events);
        assert!(!received.complete);
    }
}

#[tokio::test]
async fn a_disconnect_after_bytes_cuts_inside_an_event() {
    let received = play(response().text("hello").disconnect_after_bytes(50)).await;
    assert_eq!(received.body.len(), 50);
    assert!(!received.complete);
}

#[tokio::test]
async fn a_disconnect_breaks_unstreamed_answers_too() {
    let server =
        ScriptedServer::start(script().reply(response().text("x").disconnect_after_bytes(9))).await;
    let mut body = request("hi");
    body["stream"] = false.into();
    let received = post(&server.url(), &body).await;
    assert_eq!((received.body.len(), received.complete), (9, false));
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Broken);
}

#[tokio::test]
async fn malformed_text_goes_out_as_it_is() {
    let received = play(response().text("x").raw_after_events(2, "data: {nonsense\n\n")).await;
    assert!(received.body.contains("\n\ndata: {nonsense\n\nevent: content_block_start"));
    assert!(received.complete);
    assert_eq!(play(fault::raw_stream("no event at all")).await.body, "no event at all");
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let received =
        play(response().text("hello").error_after_events(3, "overloaded_error", "busy")).await;
    assert_eq!(received.event_types().last().unwrap(), "error");
    assert_eq!(received.events().len(), 4);
    assert_eq!(received.events()[3]["error"]["message"], "busy");
    assert!(received.complete);
}

#[tokio::test]
async fn slow_bytes_take_their_time_and_arrive_whole() {
    let started = Instant::now();
    let pause = Duration::from_millis(2);
    let slow = play(response().text("hello").slow(64, pause)).await;
    assert_eq!(slow.event_types().last().unwrap(), "message_stop");
    let pauses = u32::try_from(slow.body.len() / 64).unwrap();
    assert!(started.elapsed() >= pause * pauses);
}

#[tokio::test]
async fn a_half_open_reply_is_silent_until_the_server_goes() {
    let reply = response().text("hello").half_open_after_events(1);
    let server = ScriptedServer::start(script().reply(reply)).await;
    let mut connection = send(&server.url(), "/v1/messages", &request("hi")).await;
    read_until(&mut connection, "message_start").await;
    assert_eq!(server.outcome(0), Outcome::Open);

    drop(server);

    let mut rest = Vec::new();
    connection.read_to_end(&mut rest).await.unwrap();
    assert!(!String::from_utf8(rest).unwrap().contains("event"));
}
