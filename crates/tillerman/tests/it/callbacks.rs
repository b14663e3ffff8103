//! Callbacks that fail, questions to the person, and answers that are remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tillerman::callback::{
    ElicitationAnswer, PermissionRule, PermissionUpdate, PreToolUse, QuestionsAnswer, RuleBehavior,
    ToolAnswer, UpdateDestination,
};
use tillerman::testing::{response, script};
use tillerman::transport::{Ending, Incoming, Launch, Link, Outgoing, Transport};
use tillerman::{BoxFuture, Message, Permission};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::world::{Way, World, over_every_transport, result, tool_results, within};

over_every_transport![
    a_panicking_permission_callback_is_a_denied_call,
    a_panicking_hook_is_a_denied_call,
    questions_of_the_agent_are_answered,
    questions_can_be_declined,
    an_answer_can_be_remembered,
    a_denial_can_end_the_round,
    callbacks_whose_answer_nobody_wants_are_dropped,
];

fn run(command: &str) -> tillerman::testing::Response {
    response().tool_call("Bash", json!({"command": command}))
}

fn failure(messages: &[Message]) -> &tillerman::message::CallbackFailure {
    let found = messages.iter().find_map(|message| match message {
        Message::CallbackFailed(failure) => Some(failure),
        _ => None,
    });
    found.expect("nobody said that the callback failed")
}

async fn a_panicking_permission_callback_is_a_denied_call(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().can_use_tool(async |call| {
        assert!(call.tool_name.is_empty(), "the callback is broken");
        Permission::allow()
    });
    let messages = world.ask("go", options).await;
    assert!(!world.file("made").exists());
    assert_eq!(failure(&messages).callback, "can_use_tool");
    assert_eq!(failure(&messages).subject, "Bash");
    assert!(failure(&messages).message.contains("the callback is broken"));
    assert_eq!(result(&messages).result.unwrap(), "done");
}

async fn a_panicking_hook_is_a_denied_call(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().allow_tool("Bash").hook("", async |call: PreToolUse| {
        assert!(call.tool_name.is_empty(), "the hook is broken");
        ToolAnswer::pass()
    });
    let messages = world.ask("go", options).await;
    assert!(!world.file("made").exists());
    assert_eq!(failure(&messages).callback, "hook PreToolUse");
    assert_eq!(result(&messages).result.unwrap(), "done");
}

fn question() -> tillerman::testing::Response {
    let options = json!([
        {"label": "Red", "description": "like a rose"},
        {"label": "Blue", "description": "like the sea"},
    ]);
    let question = json!({
        "question": "Which color?", "header": "Color", "options": options, "multiSelect": false,
    });
    response().tool_call("AskUserQuestion", json!({"questions": [question]}))
}

async fn questions_of_the_agent_are_answered(way: Way) {
    let world =
        World::new(way, script().reply(question()).reply(response().text("blue it is"))).await;
    let options = world.options().on_question(async |asked| {
        let question = &asked.questions[0];
        assert_eq!(question.question, "Which color?");
        assert_eq!(question.options[1].label, "Blue");
        QuestionsAnswer::new().answer(question, "Blue")
    });
    let messages = world.ask("paint it", options).await;
    assert!(tool_results(&messages)[0].contains("Blue"), "{messages:?}");
}

async fn questions_can_be_declined(way: Way) {
    let world =
        World::new(way, script().reply(question()).reply(response().text("no color"))).await;
    let options =
        world.options().on_question(async |_| QuestionsAnswer::decline("choose yourself"));
    let messages = world.ask("paint it", options).await;
    assert!(tool_results(&messages)[0].contains("choose yourself"));
}

async fn an_answer_can_be_remembered(way: Way) {
    let script = script().reply(run("touch a")).reply(run("touch b")).reply(response().text("ok"));
    let world = World::new(way, script).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let options = world.options().can_use_tool(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        async {
            let rule = PermissionRule { tool_name: "Bash".to_owned(), rule_content: None };
            Permission::allow().and_remember(PermissionUpdate::AddRules {
                rules: vec![rule],
                behavior: RuleBehavior::Allow,
                destination: UpdateDestination::Session,
            })
        }
    });
    world.ask("go", options).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(world.file("a").exists() && world.file("b").exists());
}

async fn a_denial_can_end_the_round(way: Way) {
    let world = World::new(way, script().reply(run("touch a"))).await;
    let options =
        world.options().can_use_tool(async |_| Permission::deny_and_interrupt("stop it all"));
    let messages = world.ask("go", options).await;
    assert!(result(&messages).is_error);
    assert_eq!(world.server.requests().len(), 1);
}

async fn callbacks_whose_answer_nobody_wants_are_dropped(way: Way) {
    let script = script().reply(run("touch a")).reply(response().text("next"));
    let world = World::new(way, script).await;
    let (asked, dropped) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (opening, counter) = (Arc::clone(&asked), Arc::clone(&dropped));
    let options = world.options().can_use_tool(move |_| {
        struct Dropped(Arc<AtomicUsize>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let (opening, guard) = (Arc::clone(&opening), Dropped(Arc::clone(&counter)));
        async move {
            opening.notify_one();
            std::future::pending::<()>().await;
            drop(guard);
            Permission::allow()
        }
    });
    let mut client = world.connect(options).await;
    client.send("go").await.unwrap();
    within(asked.notified()).await;
    client.interrupt().await.unwrap();
    within(client.answer()).await.unwrap_err();
    client.send("and now").await.unwrap();
    within(client.answer()).await.unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

/// An engine that asks one question and repeats the answer as its result.
#[derive(Debug)]
struct Curious(Value);

impl Transport for Curious {
    fn name(&self) -> &'static str {
        "curious"
    }

    fn open(&self, _: Launch) -> BoxFuture<tillerman::Result<Link>> {
        let (outgoing, mut orders) = mpsc::channel(8);
        let (sayings, incoming) = mpsc::channel(8);
        let question = self.0.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let say = async |frame: Value| {
                let frame = serde_json::from_value(frame).unwrap();
                sayings.send(Incoming::Frame(Box::new(frame))).await.unwrap();
            };
            while let Some(Outgoing::Frame(frame)) = orders.recv().await {
                let frame = serde_json::to_value(&frame).unwrap();
                match frame["type"].as_str().unwrap() {
                    "control_request" => {
                        let id = &frame["request_id"];
                        let response = json!({"subtype": "success", "request_id": id});
                        say(json!({"type": "control_response", "response": response})).await;
                    }
                    "user" => {
                        let body = json!({"request_id": "q", "request": question});
                        let mut request = json!({"type": "control_request"});
                        request.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
                        say(request).await;
                    }
                    _ => {
                        say(json!({
                            "type": "result", "subtype": "success", "is_error": false,
                            "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1,
                            "result": frame["response"].to_string(), "session_id": "s",
                        }))
                        .await;
                    }
                }
            }
            drop(sayings.send(Incoming::Ended(Ending::exited(Some(0)))).await);
        });
        Box::pin(std::future::ready(Ok(Link::new(outgoing, incoming, tasks))))
    }
}

async fn asked(options: tillerman::Options, question: Value) -> Value {
    let answer = within(tillerman::prompt("hello", options.transport(Curious(question)))).await;
    serde_json::from_str(&answer.unwrap().text).unwrap()
}

#[tokio::test]
async fn questions_of_mcp_servers_are_answered() {
    let question = json!({
        "subtype": "elicitation", "mcp_server_name": "shop", "message": "Which size?",
        "requested_schema": {"type": "object"},
    });
    let options = tillerman::Options::new().on_elicitation(async |asked| {
        assert_eq!((asked.server.as_str(), asked.message.as_str()), ("shop", "Which size?"));
        ElicitationAnswer::Accept(json!({"size": "L"}))
    });
    let answer = asked(options, question.clone()).await;
    assert_eq!(answer["response"], json!({"action": "accept", "content": {"size": "L"}}));
    // With nobody to ask, the engine hears so and declines.
    let answer = asked(tillerman::Options::new(), question).await;
    assert_eq!(answer["subtype"], "error");
}

#[tokio::test]
async fn requests_that_nobody_knows_are_answered_with_an_error() {
    let answer = asked(tillerman::Options::new(), json!({"subtype": "sing"})).await;
    assert_eq!(answer["subtype"], "error");
    assert!(answer["error"].as_str().unwrap().contains("sing"), "{answer}");
}
