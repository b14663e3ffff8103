//! Hooks that are written down: which of them run, and what their answers come to together.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::hook::HookScope;
use tillerman_runtime::HookSetup;

use crate::handlers::{ScriptedRunner, answers, does, on};
use crate::model::{calls, says};
use crate::stage::{Play, stage, tool_result};
use crate::tools::{Conduct, TestTool, changing, looking};

/// A session in which the model uses one tool and then says "Done.".
async fn play(hooks: HookSetup, tool: &TestTool, name: &str, input: &Value) -> Play {
    let play =
        stage([calls(name, "toolu_1", input), says("Done.")]).tools([tool]).handlers(hooks).begin();
    play.say("Go").await;
    play
}

/// Answers of several hooks for `PreToolUse`.
fn before(decision: &str) -> Value {
    let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": decision,
        "permissionDecisionReason": format!("{decision} it")});
    answers(&json!({"hookSpecificOutput": specific}))
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_what_happens_and_can_deny() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let hooks = runner.setup(&[on("PreToolUse", &json!([before("deny")]))]);
    let frames = play(hooks, &look, "Look", &json!({"at": "it"})).await.round().await;
    let result = tool_result(&frames);
    assert_eq!(result["content"], "PreToolUse:Look hook error: deny it");
    assert!(look.log().is_empty());
    let input = &runner.log()[0].input;
    assert_eq!(input["tool_input"], json!({"at": "it"}));
    assert_eq!(
        (&input["session_id"], &input["cwd"]),
        (&json!(crate::stage::SESSION), &json!("/nowhere"))
    );
    assert!(input["prompt_id"].is_string(), "{input}");
}

#[tokio::test(start_paused = true)]
async fn the_strongest_decision_holds_whoever_is_first() {
    // Deny outranks defer outranks ask outranks allow.
    let table = [
        (["allow", "deny"], "denied"),
        (["deny", "defer"], "denied"),
        (["defer", "ask"], "deferred"),
        (["ask", "allow"], "asked"),
        (["allow", "allow"], "ran"),
    ];
    for (decisions, expected) in table {
        for order in [decisions, [decisions[1], decisions[0]]] {
            let (runner, make) = (ScriptedRunner::default(), changing("Make", Conduct::Succeed));
            let handlers: Vec<Value> = order.iter().map(|decision| before(decision)).collect();
            let hooks = runner.setup(&[on("PreToolUse", &json!(handlers))]);
            let mut play = play(hooks, &make, "Make", &json!({})).await;
            let frame = loop {
                let frame = play.next().await.unwrap();
                let is_question = frame["request"]["subtype"] == "can_use_tool";
                if is_question || frame["type"] == "result" {
                    break frame;
                }
            };
            let was = match frame["type"].as_str() {
                Some("control_request") => "asked",
                _ if frame["terminal_reason"] == "tool_deferred" => "deferred",
                _ if !make.log().is_empty() => "ran",
                _ => "denied",
            };
            assert_eq!(was, expected, "{order:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn handlers_run_side_by_side_and_the_last_written_input_holds() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let rewrites = |n: u32| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"n": n}}});
    let slow = does(&format!("slow {}", rewrites(2)));
    let hooks =
        runner.setup(&[on("PreToolUse", &json!([answers(&rewrites(1)), slow, does("slow {}")]))]);
    let began = tokio::time::Instant::now();
    play(hooks, &look, "Look", &json!({})).await.round().await;
    assert_eq!(look.log(), [json!({"n": 2})]);
    assert_eq!(began.elapsed(), Duration::from_secs(2), "they do not wait for each other");
}

#[tokio::test(start_paused = true)]
async fn the_same_handler_runs_once_however_often_it_is_written() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let twice = on("PreToolUse", &json!([does("a"), does("a"), does("b")]));
    let hooks = runner.setup(&[twice, on("PreToolUse", &json!([does("b"), does("c")]))]);
    play(hooks, &look, "Look", &json!({})).await.round().await;
    assert_eq!(runner.commands(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn matchers_and_conditions_choose_the_calls() {
    let table = [
        (json!({"matcher": "Bash"}), json!({}), "make", true),
        (json!({"matcher": "Write|Bash"}), json!({}), "make", true),
        (json!({"matcher": "Bas"}), json!({}), "make", false),
        (json!({"matcher": "B.*"}), json!({}), "make", true),
        (json!({"matcher": "mcp__bash"}), json!({}), "make", false),
        (json!({}), json!({"if": "Bash(make *)"}), "make all", true),
        (json!({}), json!({"if": "Bash(git *)"}), "make all", false),
        (json!({}), json!({"if": "Bash(git *)"}), "cd x && git push", true),
        (json!({}), json!({"if": "Write"}), "make", false),
        // Nobody can tell what this runs, so the guard looks at it.
        (json!({}), json!({"if": "Bash(git *)"}), "if ((", true),
        (json!({"matcher": "Write"}), json!({"if": "Bash(make *)"}), "make all", false),
    ];
    for (group, handler, command, runs) in table {
        let (runner, bash) = (ScriptedRunner::default(), looking("Bash", Conduct::Succeed));
        let (mut group, mut handler) = (group.clone(), handler.clone());
        handler["type"] = json!("command");
        handler["command"] = json!("x");
        group["hooks"] = json!([handler]);
        let hooks = runner.setup(&[json!({"PreToolUse": [group]})]);
        let mut play = play(hooks, &bash, "Bash", &json!({"command": command})).await;
        loop {
            let frame = play.next().await.unwrap();
            if frame["request"]["subtype"] == "can_use_tool" {
                play.answer(&frame, json!({"behavior": "allow"})).await;
            } else if frame["type"] == "result" {
                break;
            }
        }
        assert_eq!(runner.log().len(), usize::from(runs), "{group} {command}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_of_a_skill_can_run_once() {
    for (scope, runs) in [(HookScope::Skill, 1), (HookScope::Settings, 2)] {
        let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
        let once = json!({"type": "command", "command": "x", "once": true});
        let mut hooks = runner.setup(&[on("PreToolUse", &json!([once]))]);
        hooks.sources[0].scope = scope;
        let scripts = ["toolu_1", "toolu_2"].map(|id| calls("Look", id, &json!({}))).into_iter();
        let mut play = stage(scripts.chain([says("Done.")])).tools([&look]).handlers(hooks).begin();
        play.say("Go").await;
        play.round().await;
        assert_eq!(runner.log().len(), runs, "{scope:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_has_its_usual_time_limit() {
    let prompt = json!({"type": "prompt", "prompt": "p"});
    let http = json!({"type": "http", "url": "http://localhost/"});
    let timed = |seconds: Value| json!({"type": "command", "command": "x", "timeout": seconds});
    let table = [
        ("PreToolUse", does("x"), 600.0),
        ("PreToolUse", http, 600.0),
        ("PreToolUse", prompt.clone(), 30.0),
        ("PreToolUse", json!({"type": "agent", "prompt": "p"}), 60.0),
        ("MessageDisplay", does("x"), 10.0),
        ("UserPromptSubmit", does("x"), 30.0),
        ("PreToolUse", timed(json!(2.5)), 2.5),
        ("UserPromptSubmit", timed(json!(90)), 90.0),
        ("PreToolUse", timed(json!(0)), 600.0),
        ("PreToolUse", timed(json!(-1)), 600.0),
        ("SessionEnd", does("x"), 1.5),
        ("SessionEnd", timed(json!(20)), 20.0),
        ("SessionEnd", timed(json!(600)), 60.0),
    ];
    for (event, handler, seconds) in table {
        let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
        let hooks = runner.setup(&[on(event, &json!([handler]))]);
        play(hooks, &look, "Look", &json!({})).await.close().await;
        assert_eq!(runner.log()[0].timeout, Duration::from_secs_f64(seconds), "{event} {handler}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_a_server_is_found_by_name() {
    let handler = json!({"type": "mcp_tool", "server": "notes", "tool": "scan"});
    for (name, found) in [("mcp__notes__scan", true), ("mcp__notes__other", false)] {
        let (runner, tool) = (ScriptedRunner::default(), looking(name, Conduct::Succeed));
        let hooks = runner.setup(&[on("UserPromptSubmit", &json!([handler]))]);
        let mut play = stage([says("Done.")]).tools([&tool]).handlers(hooks).begin();
        play.say("Go").await;
        play.round().await;
        assert_eq!(runner.log()[0].tool.is_some(), found, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn callbacks_and_handlers_are_heard_together() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let context = |text: &str| json!({"hookSpecificOutput": {"additionalContext": text}});
    let hooks = runner.setup(&[on("PostToolUse", &json!([answers(&context("from a file"))]))]);
    let mut play = stage([calls("Look", "toolu_1", &json!({})), says("Done.")])
        .tools([&look])
        .handlers(hooks)
        .begin();
    play.hook(json!({"PostToolUse": [{"hookCallbackIds": ["hook_0"]}]})).await;
    play.say("Go").await;
    let callback = play.until("control_request/hook_callback").await;
    play.answer(&callback, context("from the host")).await;
    play.round().await;
    let asked = serde_json::to_string(&play.model.requests()[1].messages).unwrap();
    assert!(asked.contains("from a file") && asked.contains("from the host"), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn the_handshake_keeps_the_hooks_that_are_written_down() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let hooks = runner.setup(&[on("PreToolUse", &json!([before("deny")]))]);
    let mut play = stage([calls("Look", "toolu_1", &json!({})), says("Done.")])
        .tools([&look])
        .handlers(hooks)
        .begin();
    play.hook(json!({})).await;
    play.say("Go").await;
    play.round().await;
    assert_eq!((runner.log().len(), look.log().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn closing_the_input_does_not_stop_handlers() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let deny = json!({"hookSpecificOutput": {"permissionDecision": "deny"}});
    let hooks = runner.setup(&[on("PreToolUse", &json!([does(&format!("slow {deny}"))]))]);
    let play = play(hooks, &look, "Look", &json!({})).await;
    let (frames, end) = play.close().await;
    assert_eq!(tool_result(&frames)["is_error"], true);
    assert!(look.log().is_empty() && !end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_asks_a_model_is_part_of_the_costs() {
    let (runner, look) = (ScriptedRunner::default(), looking("Look", Conduct::Succeed));
    let hooks = runner.setup(&[on("PreToolUse", &json!([does("ask a model")]))]);
    let frames = play(hooks, &look, "Look", &json!({})).await.round().await;
    let result = frames.last().unwrap();
    let asked = &result["modelUsage"]["claude-haiku-4-5"];
    assert_eq!((&asked["inputTokens"], &asked["outputTokens"]), (&json!(7), &json!(3)), "{result}");
    assert_ne!(result["usage"]["input_tokens"], 0, "the session's own usage stands beside it");
}
