//! What hosts see of hooks: their runs on request, their failures always.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_runtime::{HookSetup, Inbound};

use crate::handlers::{ScriptedRunner, answers, does, on};
use crate::model::{calls, says};
use crate::stage::{Play, SECRET, kind, kinds, stage};
use crate::tools::{Conduct, looking};

async fn play(hooks: HookSetup) -> Play {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done."), says("More.")];
    let play = stage(scripts).tools([&look]).handlers(hooks).begin();
    play.say("Go").await;
    play
}

fn of_kind<'a>(frames: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| kind(frame) == wanted).collect()
}

#[tokio::test(start_paused = true)]
async fn runs_are_shown_to_hosts_that_want_to_see_them() {
    let runner = ScriptedRunner::default();
    let mut hooks = runner.setup(&[on("PreToolUse", &json!([does("print")]))]);
    hooks.show_events = true;
    let frames = play(hooks).await.round().await;
    let started = of_kind(&frames, "system/hook_started")[0];
    assert_eq!(started["hook_name"], "PreToolUse:Look");
    assert_eq!(started["hook_event"], "PreToolUse");
    let progress = of_kind(&frames, "system/hook_progress")[0];
    assert_eq!((&progress["stdout"], &progress["hook_id"]), (&json!("some"), &started["hook_id"]));
    let response = of_kind(&frames, "system/hook_response")[0];
    assert_eq!(response["hook_id"], started["hook_id"]);
    assert_eq!(response["output"], "some more");
    assert_eq!((&response["exit_code"], &response["outcome"]), (&json!(0), &json!("success")));
}

#[tokio::test(start_paused = true)]
async fn without_a_wish_only_the_beginning_is_shown() {
    let runner = ScriptedRunner::default();
    let mut section = on("PreToolUse", &json!([does("print")]));
    section["SessionStart"] = json!([{"hooks": [does("print")]}]);
    let frames = play(runner.setup(&[section])).await.round().await;
    assert_eq!(runner.log().len(), 2);
    let shown = of_kind(&frames, "system/hook_response");
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!(shown[0]["hook_name"], "SessionStart:startup");
}

#[tokio::test(start_paused = true)]
async fn whatever_a_handler_does_the_work_goes_on_and_the_host_hears_of_it() {
    let table = [
        ("fail", "failed: it is broken"),
        ("crash", "crashed"),
        ("crash at once", "crashed"),
        ("time out", "did not end within 5 s"),
        ("never", "did not end within 5 s"),
        ("remark", "look here"),
    ];
    for (conduct, said) in table {
        for event in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"] {
            let runner = ScriptedRunner::default();
            let handler = json!({"type": "command", "command": conduct, "timeout": 5});
            let frames = play(runner.setup(&[on(event, &json!([handler]))])).await.round().await;
            assert_eq!(frames.last().unwrap()["result"], "Done.", "{conduct} at {event}");
            let told = of_kind(&frames, "system/notification");
            let told = told.iter().find(|frame| frame["key"] == "hook_failed");
            let text = told.unwrap_or_else(|| panic!("{conduct} at {event}"))["text"].to_string();
            assert!(text.contains(said) && text.contains("of file 0"), "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_handlers() {
    let runner = ScriptedRunner::default();
    let mut hooks = runner.setup(&[on("PreToolUse", &json!([does("hang")]))]);
    hooks.show_events = true;
    let mut play = play(hooks).await;
    play.until("system/hook_started").await;
    play.tell(Inbound::Interrupt).await;
    play.until("result/error_during_execution").await;
    let response = play.until("system/hook_response").await;
    assert_eq!(response["outcome"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_used_is_told_at_the_beginning() {
    let runner = ScriptedRunner::default();
    let section = json!({
        "BeforeLunch": [],
        "Stop": [{"hooks": [{"type": "carrier_pigeon"}]},
            {"hooks": [{"type": "command", "command": "x", "if": "Bash"}]}],
        "PreToolUse": [{"matcher": "(", "hooks": [does("x")]},
            {"hooks": [{"type": "command", "command": "y", "if": "Bash("}]}],
    });
    let mut hooks = runner.setup(&[section]);
    hooks.remarks.push("Some hooks were left out.".to_owned());
    let frames = play(hooks).await.round().await;
    let told: Vec<String> = of_kind(&frames, "system/notification")
        .into_iter()
        .map(|frame| frame["text"].as_str().unwrap().to_owned())
        .collect();
    for said in [
        "left out",
        "BeforeLunch",
        "carrier_pigeon",
        "is not about calls",
        "matcher of a PreToolUse hook of file 0",
        "condition of a PreToolUse hook of file 0",
    ] {
        assert!(told.iter().any(|text| text.contains(said)), "{said}: {told:?}");
    }
    assert_eq!(runner.commands(), ["x", "y"], "what can run, runs");
}

#[tokio::test(start_paused = true)]
async fn messages_for_the_person_are_shown() {
    let runner = ScriptedRunner::default();
    let says = answers(&json!({"systemMessage": "Mind the gap.", "suppressOutput": true}));
    let frames = play(runner.setup(&[on("PreToolUse", &json!([says]))])).await.round().await;
    let told = of_kind(&frames, "system/notification");
    assert_eq!((&told[0]["key"], &told[0]["text"]), (&json!("hook"), &json!("Mind the gap.")));
}

#[tokio::test(start_paused = true)]
async fn a_handler_in_the_background_is_heard_later() {
    let runner = ScriptedRunner::default();
    let later = json!({"systemMessage": "Built.", "decision": "block", "reason": "unheard",
        "hookSpecificOutput": {"additionalContext": "The build is green."}});
    let hooks = runner.setup(&[on("PreToolUse", &json!([does(&format!("later {later}"))]))]);
    let mut play = play(hooks).await;
    let frames = play.round().await;
    assert_eq!(frames.last().unwrap()["result"], "Done.", "nobody waited for it");
    let told = play.until("system/notification").await;
    assert_eq!(told["text"], "Built.");
    assert!(play.is_silent_for(60).await, "it wakes nobody");
    play.say("And?").await;
    play.round().await;
    let asked = serde_json::to_string(&play.model.requests()[2].messages).unwrap();
    assert!(asked.contains("The build is green.") && !asked.contains("unheard"), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_may_wake_the_model_does() {
    let runner = ScriptedRunner::default();
    let later = json!({"decision": "block", "reason": "The build broke."});
    let handler =
        json!({"type": "command", "command": format!("later {later}"), "asyncRewake": true});
    let mut play = play(runner.setup(&[on("PreToolUse", &json!([handler]))])).await;
    play.round().await;
    assert_eq!(play.round().await.last().unwrap()["result"], "More.");
    let asked = serde_json::to_string(&play.model.requests()[2].messages).unwrap();
    assert!(asked.contains("The build broke."), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_gives_the_background_a_moment() {
    let runner = ScriptedRunner::default();
    let hooks = runner.setup(&[on("Stop", &json!([does("later {}")]))]);
    let play = play(hooks).await;
    let began = tokio::time::Instant::now();
    play.close().await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn credentials_do_not_get_out_through_hooks() {
    let runner = ScriptedRunner::default();
    let leak =
        json!({"systemMessage": SECRET, "hookSpecificOutput": {"additionalContext": SECRET}});
    let mut hooks = runner.setup(&[on("PostToolUse", &json!([answers(&leak)]))]);
    hooks.show_events = true;
    let mut play = play(hooks).await;
    let frames = play.round().await;
    assert!(kinds(&frames).contains(&"system/hook_response".to_owned()));
    assert!(!serde_json::to_string(&frames).unwrap().contains(SECRET));
    let asked = serde_json::to_string(&play.model.requests()[1].messages).unwrap();
    assert!(asked.contains("[redacted]") && !asked.contains(SECRET), "{asked}");
}
