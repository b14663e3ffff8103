//! Gates let a test decide when a reply goes on.

use tillerman_testkit::{Gate, Outcome, ScriptedServer, fault, response, script};

use crate::client::{post, read_until, request, send};

#[tokio::test]
async fn a_reply_waits_before_its_first_byte() {
    let gate = Gate::new();
    let server = ScriptedServer::start(
        script().reply(response().text("hello").hold_before(&gate)).reply(fault::status(500)),
    )
    .await;
    let (url, body) = (server.url(), request("hi"));

    let (received, ()) = tokio::join!(post(&url, &body), async {
        gate.reached().await;
        assert_eq!(server.requests().len(), 1);
        assert_eq!(server.outcome(0), Outcome::Open);
        gate.open();
    });

    assert!(received.body.contains("hello"));
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Complete);
    assert_eq!(post(&server.url(), &request("hi")).await.status, 500);
}

#[tokio::test]
async fn a_reply_waits_between_events() {
    let gate = Gate::new();
    let reply = response().text("hello").hold_after_events(4, &gate);
    let server = ScriptedServer::start(script().reply(reply)).await;

    let mut connection = send(&server.url(), "/v1/messages", &request("hi")).await;
    let before = read_until(&mut connection, "hello").await;
    assert!(!before.contains("content_block_stop"));
    gate.open();
    read_until(&mut connection, "message_stop").await;
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    for reply in [
        response().text("hello").hold_before(&Gate::new()),
        response().text("hello").hold_after_events(1, &Gate::new()),
    ] {
        let server = ScriptedServer::start(script().reply(reply)).await;
        let connection = send(&server.url(), "/v1/messages", &request("hi")).await;
        server.wait_for_requests(1).await;
        drop(connection);
        assert_eq!(server.wait_for_outcome(0).await, Outcome::ClientGone);
    }
}

#[tokio::test]
async fn a_gate_that_is_open_lets_everything_through() {
    let gate = Gate::new();
    gate.open();
    let reply = response().text("hello").hold_before(&gate).hold_after_events(2, &gate);
    let server = ScriptedServer::start(script().reply(reply)).await;
    assert!(post(&server.url(), &request("hi")).await.complete);
}
