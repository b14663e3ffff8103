//! Callbacks that fail, questions to the person, and answers that are remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tillerman::callback::{
    PermissionRule, PermissionUpdate, PreToolUse, QuestionsAnswer, RuleBehavior, ToolAnswer,
    UpdateDestination,
};
use tillerman::testing::{response, script};
use tillerman::{Message, Permission};

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
