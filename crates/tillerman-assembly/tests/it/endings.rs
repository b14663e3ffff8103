//! How sessions are stopped from outside, and what they leave behind.

use serde_json::json;
use tillerman_assembly::SendError;
use tillerman_protocol::content::Content;
use tillerman_testkit::{Gate, ScriptedServer, response, script};

use crate::world::{World, converse, finish, start};

#[tokio::test]
async fn lines_are_frames_or_errors() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("hello"))).await;
    let session = start(&world.order_asking("work", &server)).await;
    for line in ["no json", "[]", r#"{"type":"user","message":7}"#] {
        let refused = session.handle.send_line(line.as_bytes()).await;
        assert!(matches!(refused, Err(SendError::NotAFrame(_))), "{line}: {refused:?}");
    }
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "hi"}}).to_string();
    session.handle.send_line(prompt.as_bytes()).await.unwrap();
    let handle = session.handle.clone();
    handle.close().await.unwrap();
    let finished = finish(session).await;
    assert_eq!(finished.result()["result"], "hello");
    assert!(matches!(handle.close().await, Err(SendError::Ended)));
    assert!(matches!(handle.try_interrupt(), Err(SendError::Ended)));
}

#[tokio::test]
async fn dropping_the_last_handle_closes_the_input() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("hello"))).await;
    let session = start(&world.order_asking("work", &server)).await;
    session.handle.prompt(Content::Text("hi".to_owned())).await.unwrap();
    assert_eq!(finish(session).await.result()["result"], "hello");
}

#[tokio::test]
async fn an_interrupt_ends_the_round_and_shutting_down_ends_everything() {
    let world = World::new();
    let gate = Gate::new();
    let held = || response().text("never").hold_before(&gate);
    let server = ScriptedServer::start(script().reply(held()).reply(held())).await;
    let order = world.order_asking("work", &server);

    let session = start(&order).await;
    session.handle.prompt(Content::Text("hi".to_owned())).await.unwrap();
    session.handle.try_interrupt().unwrap();
    let interrupted = finish(session).await;
    assert_eq!(
        interrupted.result()["subtype"],
        "error_during_execution",
        "{:?}",
        interrupted.frames
    );

    let session = start(&order).await;
    session.handle.prompt(Content::Text("hi".to_owned())).await.unwrap();
    session.handle.shut_down().unwrap();
    let shut_down = finish(session).await;
    let has_result = shut_down.frames.iter().any(|frame| frame["type"] == "result");
    assert!(!has_result, "{:?}", shut_down.frames);
}

#[tokio::test]
async fn a_session_that_keeps_nothing_leaves_nothing() {
    let world = World::new();
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": "echo $FROM_HOOK" })))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let mut order = world.order_asking("work", &server);
    order.session.no_persistence = true;
    let leave = r#"echo 'export FROM_HOOK=left-by-a-hook' >> "$CLAUDE_ENV_FILE""#;
    let hooks = json!({"SessionStart": [{"hooks": [{"type": "command", "command": leave}]}]});
    order.extension.settings = Some(json!({ "hooks": hooks }).into());
    let finished = converse(&order, "hello").await;
    assert_eq!(finished.result()["result"], "done", "{:?}", finished.frames);
    assert_eq!(server.request(1).tool_result_texts(), ["left-by-a-hook"]);
    let left: Vec<_> = std::fs::read_dir(world.path("temp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn dropping_a_session_cleans_up_behind_it() {
    let world = World::new();
    let server = ScriptedServer::start(script().build()).await;
    let mut order = world.order_asking("work", &server);
    order.session.no_persistence = true;
    let session = start(&order).await;
    let scratch = session.scratch.clone().unwrap();
    assert!(scratch.starts_with(world.path("temp")), "{}", scratch.display());
    std::fs::create_dir(&scratch).unwrap();
    drop(session);
    assert!(!scratch.exists());
}
