//! Sessions for SDKs over a socket.

use serde_json::json;
use tillerman_host::Role;

use crate::harness::World;

#[tokio::test]
async fn a_program_opens_a_session_and_speaks_in_frames() {
    let mut world = World::new().await;
    let bearer = ("authorization", format!("Bearer {}", world.token));
    let mut socket = world.connect_to("/api/v1/sdk", &[bearer]).await.unwrap();
    let options = json!({"args": ["--model", "m"], "env": {"STAGE": "test"}});
    socket.send(json!({"type": "open", "options": options})).await;
    let mut puppet = world.puppet().await;
    assert_eq!(puppet.order.session.id(), "--model m");
    assert_eq!(puppet.order.environment["STAGE"], "test");
    let hello = json!({"type": "control_request", "request_id": "1",
        "request": {"subtype": "initialize"}});
    socket.send(hello.clone()).await;
    assert_eq!(puppet.hear().await, hello);
    puppet.text("hi").await;
    assert_eq!(socket.next().await["message"]["content"][0]["text"], "hi");
    socket.send(json!({"type": "end_input"})).await;
    assert!(puppet.is_closed().await);
    puppet.end();
    assert_eq!(socket.next().await, json!({"type": "closed", "exit_code": 0}));
}

#[tokio::test]
async fn what_a_host_does_not_want_is_refused_with_a_reason() {
    let world = World::new().await;
    let bearer = ("authorization", format!("Bearer {}", world.token));
    for options in [
        json!({"args": ["--dangerously-skip-permissions"]}),
        json!({"args": ["--permission-mode=bypassPermissions"]}),
        json!({"env": {"PATH": "/tmp"}}),
        json!({"args": "no list"}),
    ] {
        let mut socket =
            world.connect_to("/api/v1/sdk", std::slice::from_ref(&bearer)).await.unwrap();
        socket.send(json!({"type": "open", "options": options})).await;
        let refused = socket.next().await;
        assert_eq!(
            (&refused["type"], &refused["code"]),
            (&json!("refused"), &json!("invalid_options"))
        );
    }
    let viewer = world.user("vera", Role::Viewer).await;
    let viewer = ("authorization", format!("Bearer {viewer}"));
    assert!(world.connect_to("/api/v1/sdk", &[viewer]).await.is_err());
}
