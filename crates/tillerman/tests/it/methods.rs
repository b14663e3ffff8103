//! Every method of a running session, over every transport.

use futures_util::StreamExt as _;
use serde_json::json;
use tillerman::message::{ResultSubtype, SystemDetail};
use tillerman::options::ServerConfig;
use tillerman::testing::{Gate, response, script};
use tillerman::tools::Tool;
use tillerman::{ErrorKind, Message, PermissionMode, Session, create_mcp_server, query};

use crate::world::{
    Way, World, collect, drives_tillerman, over_every_transport, result, say, tool_results, within,
};

over_every_transport![
    method_interrupt,
    method_rewind_files,
    method_set_permission_mode,
    method_set_model,
    method_set_max_thinking_tokens,
    method_supported_commands,
    method_supported_models,
    method_mcp_server_status,
    method_account_info,
    method_stream_input,
    method_close,
    method_set_mcp_servers,
    method_get_context_usage,
    method_stop_task,
    method_create_session,
    method_resume_session,
    method_prompt,
];

async fn method_interrupt(way: Way) {
    let gate = Gate::new();
    let script = script()
        .reply(response().text("never").hold_before(&gate))
        .reply(response().text("still here"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options()).await;
    client.send("think long").await.unwrap();
    world.server.wait_for_requests(1).await;
    client.interrupt().await.unwrap();
    let messages = within(client.receive_response().collect::<Vec<_>>()).await;
    let messages: Vec<Message> = messages.into_iter().map(Result::unwrap).collect();
    assert_eq!(result(&messages).subtype, ResultSubtype::ErrorDuringExecution);
    let next = say(&mut client, "are you there?").await;
    assert_eq!(result(&next).result.unwrap(), "still here");
}

async fn method_rewind_files(way: Way) {
    let write = json!({"file_path": "a.txt", "content": "new"});
    let script =
        script().reply(response().tool_call("Write", write)).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().enable_file_checkpointing();
    let options = options.permission_mode(PermissionMode::AcceptEdits);
    let mut client = world.connect(options).await;
    let prompt = client.send("write it").await.unwrap();
    within(client.answer()).await.unwrap();
    assert!(world.file("a.txt").exists());
    assert!(client.preview_rewind(&prompt).await.unwrap().can_rewind);
    assert!(world.file("a.txt").exists());
    client.rewind_files(&prompt).await.unwrap();
    assert!(!world.file("a.txt").exists());
    let unknown = tillerman::EntryId::new("00000000-0000-4000-8000-000000000000");
    assert_eq!(client.rewind_files(&unknown).await.unwrap_err().kind(), ErrorKind::Refused);
}

async fn method_set_permission_mode(way: Way) {
    let write = json!({"file_path": "a.txt", "content": "new"});
    let script =
        script().reply(response().tool_call("Write", write)).reply(response().text("done"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options()).await;
    client.set_permission_mode(PermissionMode::AcceptEdits).await.unwrap();
    say(&mut client, "write it").await;
    assert!(world.file("a.txt").exists());
    let refused = client.set_permission_mode(PermissionMode::BypassPermissions).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
}

async fn method_set_model(way: Way) {
    let script = script()
        .reply(response().text("one"))
        .reply(response().text("two").moves_prefix("another model"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options()).await;
    say(&mut client, "first").await;
    client.set_model("claude-opus-4-6").await.unwrap();
    say(&mut client, "second").await;
    assert_eq!(world.server.request(0).model(), "claude-sonnet-4-5");
    assert_eq!(world.server.request(1).model(), "claude-opus-4-6");
}

async fn method_set_max_thinking_tokens(way: Way) {
    let world = World::new(way, script().reply(response().text("one"))).await;
    let mut client = world.connect(world.options()).await;
    client.set_max_thinking_tokens(4096).await.unwrap();
    say(&mut client, "first").await;
    assert_eq!(world.server.single_request().body["thinking"]["budget_tokens"], 4096);
}

async fn method_supported_commands(way: Way) {
    let world = World::new(way, script()).await;
    let client = world.connect(world.options()).await;
    let commands = client.supported_commands().await.unwrap();
    assert!(commands.iter().any(|command| command.name == "compact"), "{commands:?}");
}

async fn method_supported_models(way: Way) {
    let world = World::new(way, script()).await;
    let client = world.connect(world.options()).await;
    let models = client.supported_models().await.unwrap();
    assert!(models.iter().any(|model| model.value == "sonnet"), "{models:?}");
    assert!(models.iter().all(|model| !model.display_name.is_empty()));
}

async fn method_mcp_server_status(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let schema = json!({"type": "object"});
    let tool = Tool::with_schema("look", "Looks.", schema, async |_, _| "seen");
    let server = create_mcp_server("eyes", "2.0.0", [tool]).unwrap();
    let mut client = world.connect(world.options().mcp_server("eyes", server)).await;
    say(&mut client, "hello").await;
    let status = client.mcp_server_status().await.unwrap();
    let eyes = status.iter().find(|server| server.name == "eyes").unwrap();
    assert_eq!(eyes.status, "connected");
    assert_eq!(eyes.tools.as_ref().unwrap()[0].name, "look");
}

async fn method_account_info(way: Way) {
    let world = World::new(way, script()).await;
    let client = world.connect(world.options()).await;
    let account = client.account_info().await.unwrap();
    assert!(account.api_key_source.is_some(), "{account:?}");
    let info = client.server_info().await.unwrap();
    assert!(info.protocol.starts_with("2."), "{info:?}");
    assert_eq!(info.tillerman_version.is_some(), drives_tillerman());
}

async fn method_stream_input(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<&str>(4);
    let prompts = futures_util::stream::unfold(receiver, async |mut receiver| {
        let prompt: &str = receiver.recv().await?;
        Some((prompt, receiver))
    });
    sender.send("first").await.unwrap();
    let prompts = tillerman::message::Prompts::stream(prompts);
    let mut messages = query(prompts, world.options());
    let mut results = Vec::new();
    while let Some(message) = within(messages.next()).await {
        if let Message::Result(result) = message.unwrap() {
            results.push(result.result.unwrap());
            if results.len() == 1 {
                sender.send("second").await.unwrap();
            } else {
                break;
            }
        }
    }
    drop(sender);
    // The stream ends once the prompts have.
    while within(messages.next()).await.is_some() {}
    assert_eq!(results, ["one", "two"]);
}

async fn method_close(way: Way) {
    let gate = Gate::new();
    let world = World::new(way, script().reply(response().text("x").hold_before(&gate))).await;
    let client = world.connect(world.options().close_timeout(std::time::Duration::ZERO)).await;
    let controls = client.controls();
    client.send("think long").await.unwrap();
    world.server.wait_for_requests(1).await;
    within(client.close()).await.unwrap();
    assert_eq!(controls.interrupt().await.unwrap_err().kind(), ErrorKind::Closed);
}

async fn method_set_mcp_servers(way: Way) {
    let script = script()
        .reply(response().tool_call("mcp__late__look", json!({})))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().allow_tool("mcp__late__look");
    let mut client = world.connect(options).await;
    let schema = json!({"type": "object"});
    let tool = Tool::with_schema("look", "Looks.", schema, async |_, _| "seen late");
    let server = create_mcp_server("late", "1.0.0", [tool]).unwrap();
    let servers = [("late".to_owned(), ServerConfig::from(server))];
    let changes = client.set_mcp_servers(servers).await.unwrap();
    assert_eq!(changes.added, ["late"]);
    let messages = say(&mut client, "look").await;
    assert_eq!(tool_results(&messages), ["seen late"]);
    let changes = client.set_mcp_servers([]).await.unwrap();
    assert_eq!(changes.removed, ["late"]);
}

async fn method_get_context_usage(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let mut client = world.connect(world.options()).await;
    say(&mut client, "hello").await;
    let usage = client.context_usage().await.unwrap();
    assert!(usage["totalTokens"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(usage["maxTokens"], 200_000);
}

async fn method_stop_task(way: Way) {
    let command = json!({"command": "sleep 600", "run_in_background": true});
    let script =
        script().reply(response().tool_call("Bash", command)).reply(response().text("started"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options().allow_tool("Bash")).await;
    let messages = say(&mut client, "start it").await;
    let task = messages.iter().find_map(|message| match message.as_system() {
        Some(SystemDetail::TaskStarted(task)) => Some(task.task_id.clone()),
        _ => None,
    });
    client.stop_task(&task.unwrap()).await.unwrap();
    let stopped = async {
        loop {
            let message = client.next().await.unwrap().unwrap();
            if let Some(notification) = message.as_task_notification() {
                return notification.status.clone();
            }
        }
    };
    assert_eq!(within(stopped).await, "stopped");
}

async fn method_create_session(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let mut session = Session::create(world.options()).await.unwrap();
    let id = session.id().clone();
    session.send("first").await.unwrap();
    let messages = within(session.stream().collect::<Vec<_>>()).await;
    let messages: Vec<Message> = messages.into_iter().map(Result::unwrap).collect();
    assert_eq!(result(&messages).session_id, id);
    assert_eq!(within(session.prompt("second")).await.unwrap().text, "two");
    within(session.close()).await.unwrap();
}

async fn method_resume_session(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let mut session = Session::create(world.options()).await.unwrap();
    within(session.prompt("remember")).await.unwrap();
    let id = session.id().clone();
    within(session.close()).await.unwrap();
    let mut again = Session::resume(&id, world.options()).await.unwrap();
    assert_eq!(within(again.prompt("and now")).await.unwrap().text, "two");
    assert!(world.server.request(1).user_text().contains("remember"));
}

async fn method_prompt(way: Way) {
    let world = World::new(way, script().reply(response().text("forty-two"))).await;
    let answer = within(tillerman::prompt("what is it?", world.options())).await.unwrap();
    assert_eq!(answer.text, "forty-two");
    assert!(collect(query("again", world.options().resume("not-an-id"))).await[0].is_err());
}
