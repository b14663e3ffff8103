//! Hooks at the edges of a session, and those nobody waits for.

use serde_json::{Value, json};
use tillerman_engine::Beginning;
use tillerman_runtime::Inbound;

use crate::handlers::{ScriptedRunner, answers, does, on};
use crate::model::{calls, says};
use crate::stage::{kinds, stage};
use crate::tools::{Conduct, changing};

fn context(event: &str, text: &str) -> Value {
    answers(&json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
}

#[tokio::test(start_paused = true)]
async fn a_session_begins_and_ends_with_hooks() {
    let runner = ScriptedRunner::default();
    let mut section = on("SessionStart", &json!([context("SessionStart", "It is Monday.")]));
    section["Setup"] = json!([{"hooks": [does("prepare")]}]);
    section["SessionEnd"] = json!([{"hooks": [does("slow {\"systemMessage\": \"Bye.\"}")]}]);
    let mut hooks = runner.setup(&[section]);
    hooks.beginning = Beginning { source: "resume".to_owned(), setup: Some("init".to_owned()) };
    hooks.env_file = Some("/nowhere/vars".into());
    let play = stage([says("Hi.")]).handlers(hooks).begin();
    let model = play.model.clone();
    play.say("Hello").await;
    let (frames, _) = play.close().await;
    let asked = serde_json::to_string(&model.requests()[0].messages).unwrap();
    assert!(asked.contains("It is Monday."), "{asked}");
    assert_eq!(frames.last().unwrap()["text"], "Bye.");
    let log = runner.log();
    let told: Vec<Value> = log.iter().map(|ran| ran.input["hook_event_name"].clone()).collect();
    assert_eq!(told, ["Setup", "SessionStart", "SessionEnd"]);
    assert_eq!(log[0].input["trigger"], "init");
    assert_eq!(log[1].input["source"], "resume");
    assert!(log[1].env_file);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_told_to_end_still_runs_the_hooks_of_its_end() {
    let runner = ScriptedRunner::default();
    let hooks = runner.setup(&[on("SessionEnd", &json!([does("slow {}")]))]);
    let mut play = stage([says("Hi.")]).handlers(hooks).begin();
    play.say("Hello").await;
    play.round().await;
    play.tell(Inbound::ShutDown).await;
    play.rest().await;
    assert_eq!(runner.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_is_not_asked_about_the_end() {
    let mut play = stage([says("Hi.")]).begin();
    play.hook(json!({"SessionEnd": [{"hookCallbackIds": ["hook_0"]}]})).await;
    play.tell(Inbound::ShutDown).await;
    let (frames, _) = play.rest().await;
    assert_eq!(kinds(&frames), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_questions_and_denials_while_the_work_goes_on() {
    let runner = ScriptedRunner::default();
    let make = changing("Make", Conduct::Succeed);
    let mut section = on("Notification", &json!([does("slow {}")]));
    section["PermissionDenied"] = json!([{"hooks": [does("x")]}]);
    let hooks = runner.setup(&[section]);
    let scripts = [
        calls("Make", "toolu_1", &json!({})),
        calls("Other", "toolu_2", &json!({})),
        says("Done."),
    ];
    let other = changing("Other", Conduct::Succeed);
    let mut play = stage(scripts).tools([&make, &other]).deny("Other").handlers(hooks).begin();
    play.say("Go").await;
    let question = play.until("control_request/can_use_tool").await;
    play.answer(&question, json!({"behavior": "allow"})).await;
    play.round().await;
    let told: Vec<Value> =
        runner.log().iter().map(|ran| ran.input["hook_event_name"].clone()).collect();
    assert_eq!(told, ["Notification", "PermissionDenied"]);
    assert_eq!(runner.log()[0].input["notification_type"], "permission_prompt");
    assert_eq!(make.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_hears_of_a_question_beside_the_question() {
    let make = changing("Make", Conduct::Succeed);
    let mut play =
        stage([calls("Make", "toolu_1", &json!({})), says("Done.")]).tools([&make]).begin();
    play.hook(json!({"Notification": [{"hookCallbackIds": ["hook_0"]}]})).await;
    play.say("Go").await;
    let callback = play.until("control_request/hook_callback").await;
    let question = play.until("control_request/can_use_tool").await;
    play.answer(&question, json!({"behavior": "allow"})).await;
    play.answer(&callback, json!({"systemMessage": "Somebody was asked."})).await;
    let frames = play.round().await;
    assert!(frames.iter().any(|frame| frame["text"] == "Somebody was asked."), "{frames:?}");
}
