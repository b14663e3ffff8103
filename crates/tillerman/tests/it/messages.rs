//! Every kind of message arrives as its type, and unknown ones as they came.

use serde_json::{Value, json};
use tillerman::message::{Block, ResultSubtype, SystemDetail};
use tillerman::options::SettingSource;
use tillerman::testing::{response, script};
use tillerman::transport::{Ending, Incoming, Launch, Link, Outgoing, Transport};
use tillerman::{BoxFuture, Message, Options, PermissionMode, Prompt, query};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::world::{Way, World, collect, over_every_transport, result, say, within};

over_every_transport![
    message_system_init,
    message_system_task_notification,
    message_system_compact_boundary,
    message_system_status,
    message_system_hook_started,
    message_system_hook_response,
    message_assistant,
    message_user,
    message_user_replay,
    message_result_success,
    message_result_error,
    message_stream_event,
];

fn run(command: &str) -> tillerman::testing::Response {
    response().tool_call("Bash", json!({"command": command}))
}

fn news(messages: &[Message], fits: impl Fn(&SystemDetail) -> bool) -> &SystemDetail {
    let found = messages.iter().filter_map(Message::as_system).find(|detail| fits(detail));
    found.unwrap_or_else(|| panic!("no such news: {messages:#?}"))
}

async fn message_system_init(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let messages = world.ask("hello", world.options()).await;
    let init = messages.iter().find_map(Message::as_init).unwrap();
    assert_eq!(init.model, "claude-sonnet-4-5");
    assert_eq!(init.permission_mode, PermissionMode::Default);
    assert!(init.tools.contains(&"Bash".to_owned()) && !init.slash_commands.is_empty());
    assert_eq!(init.output_style, "default");
    assert!(!init.api_key_source.is_empty());
}

async fn message_system_task_notification(way: Way) {
    // It ends when the round has, so that the news is news.
    let waiting = "until [ -e go ]; do sleep 0.02; done; echo finished";
    let command = json!({"command": waiting, "run_in_background": true});
    let script = script()
        .reply(response().tool_call("Bash", command))
        .reply(response().text("started"))
        .reply(response().text("it is done"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options().allow_tool("Bash")).await;
    say(&mut client, "start it").await;
    world.write("go", "");
    let notified = async {
        loop {
            let message = client.next().await.unwrap().unwrap();
            if let Some(notification) = message.as_task_notification() {
                return notification.clone();
            }
        }
    };
    let notification = within(notified).await;
    assert_eq!(notification.status, "completed");
    let printed = std::fs::read_to_string(&notification.output_file).unwrap();
    // An engine may note the exit code below it.
    assert_eq!(printed.lines().next(), Some("finished"));
}

async fn message_system_compact_boundary(way: Way) {
    let script = script().reply(response().text("hi")).reply(response().text("a summary"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options()).await;
    say(&mut client, "hello").await;
    let messages = say(&mut client, "/compact").await;
    let boundary = news(&messages, |it| matches!(it, SystemDetail::CompactBoundary { .. }));
    let SystemDetail::CompactBoundary { compact_metadata, .. } = boundary else { unreachable!() };
    assert_eq!(compact_metadata.trigger, "manual");
}

async fn message_system_status(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let client = world.connect(world.options()).await;
    let mut client = client;
    client.set_permission_mode(PermissionMode::Plan).await.unwrap();
    let messages = say(&mut client, "hello").await;
    news(&messages, |it| {
        matches!(it, SystemDetail::Status { permission_mode: Some(PermissionMode::Plan), .. })
    });
}

fn hooked(world: &World) -> Options {
    let hook = json!({"type": "command", "command": "echo from the hook"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    std::fs::write(world.path("config").join("settings.json"), settings.to_string()).unwrap();
    world.options().allow_tool("Bash").setting_sources([SettingSource::User]).include_hook_events()
}

async fn message_system_hook_started(way: Way) {
    let world = World::new(way, script().reply(run("echo hi")).reply(response().text("ok"))).await;
    let messages = world.ask("go", hooked(&world)).await;
    let started = news(&messages, |it| matches!(it, SystemDetail::HookStarted(_)));
    let SystemDetail::HookStarted(started) = started else { unreachable!() };
    assert_eq!(started.hook_event, "PreToolUse");
}

async fn message_system_hook_response(way: Way) {
    let world = World::new(way, script().reply(run("echo hi")).reply(response().text("ok"))).await;
    let messages = world.ask("go", hooked(&world)).await;
    let ended = news(&messages, |it| matches!(it, SystemDetail::HookResponse(_)));
    let SystemDetail::HookResponse(ended) = ended else { unreachable!() };
    assert_eq!(ended.printed.stdout.trim(), "from the hook");
    assert_eq!((ended.exit_code, ended.outcome.as_str()), (Some(0), "success"));
}

async fn message_assistant(way: Way) {
    let reply =
        response().thinking("hmm").text("I shall look").tool_call("Glob", json!({"pattern": "*"}));
    let world = World::new(way, script().reply(reply).reply(response().text("done"))).await;
    let messages = world.ask("go", world.options()).await;
    let kinds: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Assistant(frame) => frame.message.content.first(),
            _ => None,
        })
        .map(|block| match block {
            Block::Thinking { .. } => "thinking",
            Block::Text { .. } => "text",
            Block::ToolUse { .. } => "tool_use",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "text"]);
    let (_, name, input) = messages.iter().find_map(Message::tool_call).unwrap();
    assert_eq!((name, input), ("Glob", &json!({"pattern": "*"})));
}

async fn message_user(way: Way) {
    let world = World::new(way, script().reply(run("echo hi")).reply(response().text("ok"))).await;
    let messages = world.ask("go", world.options().allow_tool("Bash")).await;
    let user = messages.iter().find_map(|message| match message {
        Message::User(frame) => Some(frame),
        _ => None,
    });
    let outcome = user.unwrap().tool_use_result.clone().unwrap();
    assert_eq!(outcome["stdout"].as_str().unwrap().trim(), "hi");
}

async fn message_user_replay(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let prompt = Prompt::text("hello").with_id(id);
    let messages = collect(query(prompt, world.options().replay_user_messages())).await;
    let messages: Vec<Message> = messages.into_iter().map(Result::unwrap).collect();
    let replayed = messages.iter().any(|message| {
        matches!(message, Message::User(frame)
            if frame.is_replay == Some(true) && frame.uuid.as_ref().unwrap().as_str() == id)
    });
    assert!(replayed, "{messages:#?}");
    let progress = messages.iter().filter(|it| matches!(it, Message::PromptProgress(_))).count();
    assert!(progress >= 2, "{messages:#?}");
}

async fn message_result_success(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let result = result(&world.ask("hello", world.options()).await);
    assert_eq!((&result.subtype, result.is_error), (&ResultSubtype::Success, false));
    assert_eq!(result.result.as_deref(), Some("hi"));
    assert_eq!((result.num_turns, result.usage.output_tokens), (1, 5));
    let usage = &result.model_usage["claude-sonnet-4-5"];
    assert!(result.total_cost_usd > 0.0 && usage.context_window == 200_000, "{result:?}");
}

async fn message_result_error(way: Way) {
    let world = World::new(way, script().reply(run("echo one")).reply(run("echo two"))).await;
    let options = world.options().max_turns(1).allow_tool("Bash");
    let result = result(&world.ask("go", options).await);
    assert_eq!((&result.subtype, result.is_error), (&ResultSubtype::ErrorMaxTurns, true));
    assert!(!result.errors.unwrap().is_empty());
}

async fn message_stream_event(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let messages = world.ask("hello", world.options().include_partial_messages()).await;
    let events = messages.iter().filter(|it| matches!(it, Message::StreamEvent(_))).count();
    assert!(events >= 5, "{events}");
}

/// An engine that says these frames to the first prompt.
#[derive(Debug)]
struct Canned(Vec<Value>);

impl Transport for Canned {
    fn name(&self) -> &'static str {
        "canned"
    }

    fn open(&self, _: Launch) -> BoxFuture<tillerman::Result<Link>> {
        let (outgoing, mut orders) = mpsc::channel(8);
        let (sayings, incoming) = mpsc::channel(64);
        let mut frames = self.0.clone();
        frames.push(json!({
            "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1,
            "duration_api_ms": 1, "num_turns": 1, "result": "", "session_id": "s",
        }));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let say = async |frame: Value| {
                let frame = serde_json::from_value(frame).unwrap();
                sayings.send(Incoming::Frame(Box::new(frame))).await.unwrap();
            };
            while let Some(order) = orders.recv().await {
                match order {
                    Outgoing::Frame(frame) => match serde_json::to_value(&frame).unwrap() {
                        hello if hello["type"] == "control_request" => {
                            let id = &hello["request_id"];
                            let response = json!({"subtype": "success", "request_id": id});
                            say(json!({"type": "control_response", "response": response})).await;
                        }
                        _ => {
                            for frame in std::mem::take(&mut frames) {
                                say(frame).await;
                            }
                        }
                    },
                    _ => break,
                }
            }
            drop(sayings.send(Incoming::Ended(Ending::exited(Some(0)))).await);
        });
        Box::pin(std::future::ready(Ok(Link::new(outgoing, incoming, tasks))))
    }
}

async fn canned(frame: Value) -> Message {
    let mut frame = frame;
    frame["uuid"] = json!("u");
    frame["session_id"] = json!("s");
    let messages = collect(query("hello", Options::new().transport(Canned(vec![frame])))).await;
    messages.into_iter().next().unwrap().unwrap()
}

#[tokio::test]
async fn message_system_hook_progress() {
    let frame = json!({
        "type": "system", "subtype": "hook_progress", "hook_id": "h", "hook_name": "Stop",
        "hook_event": "Stop", "output": "half", "stdout": "half", "stderr": "",
    });
    let message = canned(frame).await;
    let Some(SystemDetail::HookProgress(progress)) = message.as_system() else {
        panic!("{message:?}");
    };
    assert_eq!(progress.printed.output, "half");
}

#[tokio::test]
async fn message_system_files_persisted() {
    let frame = json!({
        "type": "system", "subtype": "files_persisted", "processed_at": "now", "failed": [],
        "files": [{"filename": "a.txt", "file_id": "file_1"}],
    });
    let message = canned(frame).await;
    let Some(SystemDetail::FilesPersisted { files, .. }) = message.as_system() else {
        panic!("{message:?}");
    };
    assert_eq!(files[0].file_id, "file_1");
}

#[tokio::test]
async fn message_tool_progress() {
    let frame = json!({
        "type": "tool_progress", "tool_use_id": "t", "tool_name": "Bash",
        "parent_tool_use_id": null, "elapsed_time_seconds": 2.5,
    });
    let Message::ToolProgress(progress) = canned(frame).await else { panic!() };
    assert_eq!((progress.tool_name.as_str(), progress.elapsed_time_seconds), ("Bash", 2.5));
}

#[tokio::test]
async fn message_auth_status() {
    let frame = json!({"type": "auth_status", "isAuthenticating": true, "output": ["open it"]});
    let Message::AuthStatus(status) = canned(frame).await else { panic!() };
    assert!(status.is_authenticating && status.output == ["open it"]);
}

#[tokio::test]
async fn message_tool_use_summary() {
    let frame = json!({
        "type": "tool_use_summary", "summary": "read two files",
        "preceding_tool_use_ids": ["a", "b"],
    });
    let Message::ToolUseSummary(summary) = canned(frame).await else { panic!() };
    assert_eq!(
        (summary.summary.as_str(), summary.preceding_tool_use_ids.len()),
        ("read two files", 2)
    );
}

#[tokio::test]
async fn messages_that_nobody_knows_arrive_as_they_came() {
    let message = canned(json!({"type": "from_the_future", "wings": 4})).await;
    let Message::Unknown(value) = &message else { panic!("{message:?}") };
    assert_eq!(value["wings"], 4);
    let message = canned(json!({"type": "system", "subtype": "new_news", "wings": 4})).await;
    let Some(SystemDetail::Other(fields)) = message.as_system() else { panic!("{message:?}") };
    assert_eq!(fields["wings"], 4);
}
