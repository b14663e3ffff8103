//! Work that a session hands to an agent and waits for.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::Inbound;
use tokio::time::Instant;

use crate::agent_stage::{helper, order, sends_helper, with_agents};
use crate::model::{Gate, Step, calls, says, script};
use crate::stage::{kind, tool_result};
use crate::tools::{Conduct, changing, looking};

fn of_agent(frame: &Value) -> bool {
    frame["parent_tool_use_id"] == "toolu_1"
}

#[tokio::test(start_paused = true)]
async fn an_agent_works_in_a_conversation_of_its_own_and_reports_once() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [
        sends_helper("toolu_1", "look around", &json!({})),
        calls("Look", "toolu_2", &json!({"at": "here"})),
        says("Nothing here."),
        says("The helper found nothing."),
    ];
    let (stage, shelves) = with_agents(scripts, [&look], vec![helper()]);
    let mut play = stage.begin();
    play.say("Send the helper").await;
    let frames = play.round().await;
    let started = frames.iter().position(|f| kind(f) == "system/task_started").unwrap();
    assert_eq!(frames[started]["task_type"], "local_agent");
    assert_eq!(frames[started]["is_backgrounded"], false);
    assert_eq!(frames[started]["subagent_type"], "helper");
    assert_eq!(frames[started]["prompt"], "look around");
    assert_eq!(frames[started]["spawn_depth"], 1);
    let first = frames.iter().position(of_agent).unwrap();
    assert!(started < first, "hosts hear of an agent before they hear from it");
    let kinds: Vec<String> = frames.iter().filter(|f| of_agent(f)).map(kind).collect();
    assert_eq!(
        kinds,
        ["user", "assistant", "user"],
        "its prompt and work are shown, not its words"
    );
    let progress = frames.iter().find(|f| kind(f) == "system/task_progress").unwrap();
    assert_eq!(
        (&progress["usage"]["tool_uses"], &progress["last_tool_name"]),
        (&json!(1), &json!("Look"))
    );

    let requests = play.model.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests[1].system[0].text.contains("You are the helper."));
    assert!(!serde_json::to_string(&requests[1].messages).unwrap().contains("Send the helper"));
    let result = frames.iter().rfind(|f| kind(f) == "user" && !of_agent(f)).unwrap();
    let block = &result["message"]["content"][0];
    assert_eq!((&block["tool_use_id"], &block["is_error"]), (&json!("toolu_1"), &Value::Null));
    assert_eq!(block["content"][0]["text"], "Nothing here.");
    let shown = &result["tool_use_result"];
    assert_eq!((&shown["status"], &shown["agentType"]), (&json!("completed"), &json!("helper")));
    assert_eq!(shown["content"], json!([{"type": "text", "text": "Nothing here."}]));
    assert_eq!((&shown["totalToolUseCount"], &shown["totalTokens"]), (&json!(1), &json!(34)));
    assert_eq!(frames.last().unwrap()["result"], "The helper found nothing.");

    let (shelf, note) = shelves.only();
    assert_eq!(note["agentType"], "helper");
    assert_eq!(note["toolUseId"], "toolu_1");
    let chain: Vec<Value> =
        shelf.entries().into_iter().filter(|entry| entry["uuid"].is_string()).collect();
    assert_eq!(chain.len(), 4);
    assert!(chain.iter().all(|entry| entry["isSidechain"] == true), "{chain:?}");
    assert!(chain.iter().all(|entry| entry["agentId"] == shown["agentId"]), "{chain:?}");
    assert!(!play.shelf.text().contains("look around and"), "{}", play.shelf.text());
}

#[tokio::test(start_paused = true)]
async fn totals_cover_the_whole_tree() {
    let scripts = [
        sends_helper("toolu_1", "help", &json!({"model": "swift"})),
        says("Helped."),
        says("Done."),
    ];
    let (stage, _) = with_agents(scripts, [], vec![helper()]);
    let mut play = crate::agent_stage::with_budget(stage, 100.0).begin();
    play.say("Go").await;
    let frames = play.round().await;
    let result = frames.last().unwrap();
    // Each response reads 10 tokens and writes 7, a tenth of a cent each.
    assert_eq!(result["modelUsage"]["test-model"]["outputTokens"], 14);
    assert_eq!(result["modelUsage"]["test-swift-2"]["outputTokens"], 7);
    let cost = result["total_cost_usd"].as_f64().unwrap();
    assert!((cost - 0.051).abs() < 1e-9, "{cost}");
    assert_eq!(result["usage"]["output_tokens"], 14, "usage is the conversation's own");
    let stored = play.shelf.entries();
    let stored = stored.iter().rev().find(|entry| entry["type"] == "cost-state").unwrap();
    assert!((stored["totalCostUSD"].as_f64().unwrap() - 0.051).abs() < 1e-9);
}

#[tokio::test(start_paused = true)]
async fn an_agents_questions_reach_the_host_under_its_name() {
    let touch = changing("Touch", Conduct::Succeed);
    let scripts = [
        sends_helper("toolu_1", "touch it", &json!({})),
        calls("Touch", "toolu_2", &json!({})),
        says("Touched."),
        says("Done."),
    ];
    let (stage, shelves) = with_agents(scripts, [&touch], vec![helper()]);
    let mut play = stage.with_states().begin();
    play.say("Go").await;
    let question = play.until("control_request/can_use_tool").await;
    assert_eq!(question["request"]["agent_id"], json!(shelves.ids()[0]));
    assert_eq!(question["request"]["tool_use_id"], "toolu_2");
    assert!(touch.log().is_empty());
    play.answer(&question, json!({"behavior": "allow"})).await;
    let frames = play.round().await;
    assert_eq!(touch.log().len(), 1);
    assert_eq!(frames.last().unwrap()["result"], "Done.");
}

#[tokio::test(start_paused = true)]
async fn hooks_run_inside_agents_and_around_them() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [
        sends_helper("toolu_1", "look", &json!({})),
        calls("Look", "toolu_2", &json!({})),
        says("Seen."),
        says("Done."),
    ];
    let (stage, shelves) = with_agents(scripts, [&look], vec![helper()]);
    let mut play = stage.begin();
    let all = json!([{"matcher": null, "hookCallbackIds": ["hook_0"]}]);
    play.hook(json!({"SubagentStart": all, "SubagentStop": all, "PreToolUse": all, "Stop": all}))
        .await;
    play.say("Go").await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        let hook = play.until("control_request/hook_callback").await;
        let input = &hook["request"]["input"];
        let event = input["hook_event_name"].as_str().unwrap().to_owned();
        seen.push((event, input["agent_type"].as_str().map(str::to_owned)));
        if !input["agent_id"].is_null() {
            assert_eq!(input["agent_id"], json!(shelves.ids()[0]));
        }
        let context = json!({"hookEventName": "SubagentStart", "additionalContext": "Be quick."});
        let answer = match seen.last().unwrap().0.as_str() {
            "SubagentStart" => json!({"hookSpecificOutput": context}),
            _ => json!({}),
        };
        play.answer(&hook, answer).await;
    }
    let helper = Some("helper".to_owned());
    let expected = [
        ("PreToolUse", None),
        ("SubagentStart", helper.clone()),
        ("PreToolUse", helper.clone()),
        ("SubagentStop", helper),
        ("Stop", None),
    ];
    assert_eq!(seen, expected.map(|(event, agent)| (event.to_owned(), agent)));
    play.until("result/success").await;
    let asked = serde_json::to_string(&play.model.requests()[1].messages).unwrap();
    assert!(asked.contains("Be quick."), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_agent_that_is_waited_for() {
    let gentle = looking("Look", Conduct::EndWhenTold(Duration::from_secs(1)));
    let scripts =
        [sends_helper("toolu_1", "look", &json!({})), calls("Look", "toolu_2", &json!({}))];
    let (stage, shelves) = with_agents(scripts, [&gentle], vec![helper()]);
    let mut play = stage.begin();
    play.say("Go").await;
    play.until("system/task_progress").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let began = Instant::now();
    play.tell(Inbound::Interrupt).await;
    let result = play.until("result").await;
    assert_eq!(result["terminal_reason"], "aborted_tools");
    assert_eq!(began.elapsed(), Duration::ZERO, "the round does not wait for the agent");
    let updated = play.until("system/task_updated").await;
    assert_eq!(updated["patch"]["status"], "killed");
    assert_eq!(gentle.log()[1], "ended", "the agent's tools were told to end");
    assert!(shelves.only().0.text().contains("interrupted by user"));
    assert_eq!(play.model.requests().len(), 2, "nobody is woken");
}

#[tokio::test(start_paused = true)]
async fn an_agent_has_the_tools_and_the_mode_that_its_definition_leaves() {
    let look = looking("Look", Conduct::Succeed);
    let touch = changing("Touch", Conduct::Succeed);
    let mut careful = helper();
    careful.tools = Some(vec!["Look".to_owned(), "Missing".to_owned()]);
    careful.permission_mode = Some(PermissionMode::BypassPermissions);
    let scripts = [
        sends_helper("toolu_1", "touch", &json!({})),
        calls("Touch", "toolu_2", &json!({})),
        says("I cannot."),
        says("Done."),
    ];
    let (stage, _) = with_agents(scripts, [&look, &touch], vec![careful]);
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    let requests = play.model.requests();
    let names: Vec<&str> = requests[1].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Look"]);
    assert!(touch.log().is_empty(), "a tool it does not have is not run");
    let told = serde_json::to_string(&requests[2].messages).unwrap();
    assert!(told.contains("There is no tool named Touch"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn no_definition_makes_an_agent_freer_than_its_parent() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    let table = [
        (Default, Some(BypassPermissions), "ask"),
        (Plan, Some(AcceptEdits), "ask"),
        (Default, Some(DontAsk), "denied"),
        (BypassPermissions, None, "ran"),
        (BypassPermissions, Some(Default), "ran"),
        (BypassPermissions, Some(DontAsk), "denied"),
    ];
    for (parent, wanted, expected) in table {
        let touch = changing("Touch", Conduct::Succeed);
        let mut definition = helper();
        definition.permission_mode = wanted;
        let scripts = [
            sends_helper("toolu_1", "touch", &json!({})),
            calls("Touch", "toolu_2", &json!({})),
            says("Well."),
            says("Done."),
        ];
        let (mut stage, _) = with_agents(scripts, [&touch], vec![definition]);
        stage.setup.engine.mode = parent;
        stage.setup.may_bypass = parent == BypassPermissions;
        let mut play = stage.begin();
        play.say("Go").await;
        let mut seen = "denied";
        loop {
            let frame = play.next().await.unwrap();
            match kind(&frame).as_str() {
                "control_request/can_use_tool" => {
                    seen = "ask";
                    play.answer(&frame, json!({"behavior": "deny", "message": "no"})).await;
                }
                "result/success" => break,
                _ => {}
            }
        }
        let seen = if touch.log().is_empty() { seen } else { "ran" };
        assert_eq!(seen, expected, "{parent:?} with {wanted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_say_what_the_limit_is() {
    let unknown = json!({"description": "x", "prompt": "y", "subagent_type": "nobody"});
    let isolated = order("y", &json!({"isolation": "worktree"}));
    let cases = [
        (
            unknown,
            "There is no agent nobody. The agents are: general-purpose, Explore, Plan, helper",
        ),
        (isolated, "Isolation (worktree) is not available"),
        (json!({"description": "x"}), "`prompt` is missing"),
    ];
    for (input, expected) in cases {
        let scripts = [calls("Agent", "toolu_1", &input), says("Well.")];
        let (stage, shelves) = with_agents(scripts, [], vec![helper()]);
        let mut play = stage.begin();
        play.say("Go").await;
        let frames = play.round().await;
        let told = tool_result(&frames)["content"].to_string();
        assert!(told.contains(expected), "{told}");
        assert_eq!(shelves.ids(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn only_so_many_agents_work_at_once_and_so_deep() {
    let two = script()
        .call("Agent", "toolu_1", &order("first", &json!({"run_in_background": true})))
        .call("Task", "toolu_2", &order("second", &json!({})));
    let scripts = [two.done(), script().then(Step::Hang).by_helper(), says("Well.")];
    let (mut stage, _) = with_agents(scripts, [], vec![helper()]);
    stage.setup.agents.as_mut().unwrap().limits.at_once = 1;
    let mut play = stage.begin();
    play.say("Go").await;
    let frames = play.round().await;
    let refused =
        frames.iter().map(Value::to_string).find(|frame| frame.contains("1 agents are at work"));
    assert!(refused.is_some(), "{frames:?}");
    play.tell(Inbound::ShutDown).await;
    play.rest().await;

    let nested = order("deeper", &json!({}));
    let scripts = [
        sends_helper("toolu_1", "go deep", &json!({})),
        calls("Agent", "toolu_2", &nested),
        calls("Agent", "toolu_3", &nested),
        says("I am at the bottom."),
        says("Two."),
        says("One."),
    ];
    let (mut stage, shelves) = with_agents(scripts, [], vec![helper()]);
    stage.setup.agents.as_mut().unwrap().limits.depth = 2;
    let mut play = stage.begin();
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(shelves.ids().len(), 2);
    let depths: Vec<&Value> = frames
        .iter()
        .filter(|f| kind(f) == "system/task_started")
        .map(|f| &f["spawn_depth"])
        .collect();
    assert_eq!(depths, [1, 2]);
    let told = serde_json::to_string(&play.model.requests()[3].messages).unwrap();
    assert!(told.contains("There is no tool named Agent"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_at_work_follows_its_parent_into_a_stricter_mode() {
    let touch = changing("Touch", Conduct::Succeed);
    let gate = Gate::closed();
    let scripts = [
        sends_helper("toolu_1", "touch", &json!({})),
        script().gate(&gate).call("Touch", "toolu_2", &json!({})).done(),
        says("Well."),
        says("Done."),
    ];
    let (mut stage, _) = with_agents(scripts, [&touch], vec![helper()]);
    stage.setup.engine.mode = PermissionMode::BypassPermissions;
    stage.setup.may_bypass = true;
    let mut play = stage.begin();
    play.say("Go").await;
    play.until("system/task_started").await;
    play.ask(json!({"subtype": "set_permission_mode", "mode": "default"})).await;
    gate.open();
    let question = play.until("control_request/can_use_tool").await;
    play.answer(&question, json!({"behavior": "deny", "message": "no"})).await;
    play.until("result/success").await;
    assert!(touch.log().is_empty());
}
