//! Sockets and streams: no gap, no duplicate, and nobody slows a session.

use serde_json::{Value, json};

use crate::harness::{Puppet, Socket, World};

async fn talking(world: &mut World) -> (String, Puppet) {
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    (id, puppet)
}

/// Numbers of events up to one that holds this text.
async fn numbers_until(socket: &mut Socket, text: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let message = socket.next_of("event").await;
        numbers.extend(message["seq"].as_u64());
        if message["event"].to_string().contains(text) {
            return numbers;
        }
    }
}

#[tokio::test]
async fn a_client_that_drops_goes_on_from_its_cursor() {
    let mut world = World::new().await;
    let (id, puppet) = talking(&mut world).await;
    puppet.text("one").await;
    let mut first = world.socket().await;
    first.subscribe(&id, 0).await;
    let before = numbers_until(&mut first, "one").await;
    drop(first);
    puppet.text("two").await;
    puppet.text("three").await;
    let mut second = world.socket().await;
    second.subscribe(&id, *before.last().unwrap()).await;
    let after = numbers_until(&mut second, "three").await;
    puppet.text("four").await;
    let live = numbers_until(&mut second, "four").await;
    let all: Vec<u64> = [before, after, live].concat();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_live_only_has_no_number_and_keeps_its_place() {
    let mut world = World::new().await;
    let (id, puppet) = talking(&mut world).await;
    let mut socket = world.socket().await;
    socket.subscribe(&id, 0).await;
    socket.next_of("caught_up").await;
    let delta = json!({"type": "stream_event", "event": {"type": "content_block_delta"},
        "uuid": "e", "session_id": "s", "parent_tool_use_id": null});
    puppet.say(delta.clone()).await;
    puppet.text("whole").await;
    puppet.say(delta).await;
    let mut kinds = Vec::new();
    while kinds.len() < 3 {
        let message = socket.next_of("event").await;
        let kind = message["event"]["frame"]["type"].clone();
        if kind == "stream_event" || kind == "assistant" {
            assert_eq!(message["seq"].is_null(), kind == "stream_event");
            kinds.push(kind);
        }
    }
    assert_eq!(kinds, ["stream_event", "assistant", "stream_event"]);
    let stored = world.events(&id).await;
    assert!(stored.iter().all(|event| event["frame"]["type"] != "stream_event"));
}

#[tokio::test]
async fn watchers_hear_of_conversations_and_cards() {
    let mut world = World::new().await;
    let mut socket = world.socket().await;
    socket.send(json!({"type": "watch"})).await;
    assert!(socket.answers().await);
    let (id, puppet) = talking(&mut world).await;
    let mut second = world.socket().await;
    second.send(json!({"type": "watch"})).await;
    assert!(second.answers().await);
    puppet.ask("q1", "u1", "make").await;
    let card = socket.next_of("approval").await["approval"].clone();
    assert_eq!(second.next_of("approval").await["approval"], card);
    world.answer(&card, json!({"decision": "deny"})).await.expect(200);
    assert_eq!(second.next_of("approval").await["approval"]["state"], "denied");
    world.send("DELETE", &format!("/conversations/{id}"), json!({})).await.expect(204);
    assert_eq!(second.next_of("conversation_deleted").await["id"], id.as_str());
}

#[tokio::test]
async fn watchers_hear_what_becomes_of_a_conversation() {
    let mut world = World::new().await;
    let mut socket = world.socket().await;
    socket.send(json!({"type": "watch"})).await;
    assert!(socket.answers().await);
    let (_, puppet) = talking(&mut world).await;
    puppet.ask("q1", "u1", "make").await;
    loop {
        let shown = socket.next_of("conversation").await["conversation"].clone();
        if shown["state"] == "waiting" {
            assert_eq!((&shown["title"], &shown["pending_approvals"]), (&json!("go"), &json!(1)));
            return;
        }
    }
}

#[tokio::test]
async fn a_slow_client_is_let_go_and_slows_nobody() {
    let mut world = World::new().await;
    let (id, puppet) = talking(&mut world).await;
    let mut slow = world.socket().await;
    slow.subscribe(&id, 0).await;
    slow.next_of("caught_up").await;
    let text = "x".repeat(20_000);
    for _ in 0..1_900 {
        puppet.text(&text).await;
    }
    puppet.text("the end").await;
    let mut quick = world.socket().await;
    let last = world.reaches_text(&id, "the end").await;
    quick.subscribe(&id, last - 2).await;
    numbers_until(&mut quick, "the end").await;
    let mut numbers: Vec<u64> = Vec::new();
    let closed = loop {
        match slow.next().await {
            Value::Number(code) => break code.as_u64().unwrap(),
            message if message["type"] == "event" => numbers.extend(message["seq"].as_u64()),
            Value::Null => panic!("the socket ended without a word after {}", numbers.len()),
            _ => {}
        }
    };
    assert_eq!(closed, 4_008);
    let first = numbers[0];
    let expected: Vec<u64> = (first..first + numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "what it got has no gap");
}

#[tokio::test]
async fn messages_that_make_no_sense_are_answered_and_floods_are_ended() {
    let world = World::new().await;
    let mut socket = world.socket().await;
    for nonsense in ["{", "{\"type\":\"shell\"}", "[]"] {
        socket.send_text(nonsense).await;
        assert_eq!(socket.next().await["error"]["code"], "bad_request");
    }
    socket.subscribe("no-such", 0).await;
    assert_eq!(socket.next().await["error"]["code"], "not_found");
    assert!(socket.answers().await);
    let mut other = world.socket().await;
    other.send_text(&format!("{{\"type\":\"ping\",\"x\":\"{}\"}}", "x".repeat(100_000))).await;
    assert_eq!(other.next().await, 1_009, "an oversized message ends the socket");
    for _ in 0..200 {
        socket.send(json!({"type": "ping"})).await;
    }
    let closed = loop {
        let message = socket.next().await;
        if !message.is_object() {
            break message;
        }
    };
    assert_eq!(closed, 4_029);
}

#[tokio::test]
async fn the_event_stream_resumes_by_id() {
    let mut world = World::new().await;
    let (id, puppet) = talking(&mut world).await;
    puppet.text("one").await;
    world.reaches_text(&id, "one").await;
    let call = world
        .call("GET", &format!("/api/v1/conversations/{id}/events"))
        .header("accept", "text/event-stream")
        .header("last-event-id", "2");
    let (answer, ()) = tokio::join!(call.send_until("\"two\""), puppet.text("two"));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let ids: Vec<&str> = answer.text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(ids[0], "3");
    assert!(answer.text.contains("\"two\""));
}
