//! Hooks that live in the host.

use serde_json::{Value, json};

use crate::model::{calls, says, script};
use crate::stage::{Play, kinds, stage, tool_result};
use crate::tools::{Conduct, TestTool, changing, looking};

/// A session with hooks in which the model uses one tool and then says "Done.".
async fn hooked(tool: &TestTool, name: &str, hooks: Value) -> Play {
    let scripts = [calls(name, "toolu_1", &json!({"at": "it"})), says("Done.")];
    let mut play = stage(scripts).tools([tool]).begin();
    play.hook(hooks).await;
    play.say("Go").await;
    play
}

fn for_everything(event: &str) -> Value {
    json!({event: [{"matcher": null, "hookCallbackIds": ["hook_0"]}]})
}

#[tokio::test(start_paused = true)]
async fn a_hook_is_told_what_happens() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = hooked(&look, "Look", for_everything("PreToolUse")).await;
    let hook = play.until("control_request/hook_callback").await;
    let request = &hook["request"];
    assert_eq!(request["callback_id"], "hook_0");
    assert_eq!(request["tool_use_id"], "toolu_1");
    let input = &request["input"];
    assert_eq!(input["hook_event_name"], "PreToolUse");
    assert_eq!(input["tool_name"], "Look");
    assert_eq!(input["tool_input"], json!({"at": "it"}));
    assert_eq!(input["session_id"], crate::stage::SESSION);
    assert_eq!(input["cwd"], "/nowhere");
    assert_eq!(input["permission_mode"], "default");
    assert!(input["transcript_path"].is_string());
    assert!(look.log().is_empty(), "the tool waits for the hook");
    play.answer(&hook, json!({})).await;
    play.round().await;
    assert_eq!(look.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_matcher_chooses_the_tools() {
    let table = [
        (json!(null), true),
        (json!(""), true),
        (json!("*"), true),
        (json!("Look"), true),
        (json!("Write|Look"), true),
        (json!("Write, Look"), true),
        (json!("Loo"), false),
        (json!("Write"), false),
        (json!("L.*k"), true),
        (json!("^Look$"), true),
        (json!("^ook"), false),
        (json!("mcp__.*"), false),
    ];
    for (matcher, expected) in table {
        let look = looking("Look", Conduct::Succeed);
        let hooks = json!({"PreToolUse": [{"matcher": matcher, "hookCallbackIds": ["hook_0"]}]});
        let mut play = hooked(&look, "Look", hooks).await;
        let mut asked = false;
        loop {
            let frame = play.next().await.unwrap();
            if frame["type"] == "control_request" {
                asked = true;
                play.answer(&frame, json!({})).await;
            } else if frame["type"] == "result" {
                break;
            }
        }
        assert_eq!(asked, expected, "{matcher}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_matcher_nobody_can_read_is_told_and_leaves_no_gap() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([&look]).begin();
    let hooks = json!({"PreToolUse": [{"matcher": "^(?!Read", "hookCallbackIds": ["hook_0"]}]});
    play.request("req_1", json!({"subtype": "initialize", "hooks": hooks})).await;
    assert_eq!(play.next().await.unwrap()["key"], "bad_hook_matcher");
    play.say("Go").await;
    let hook = play.until("control_request/hook_callback").await;
    let deny = json!({"hookEventName": "PreToolUse", "permissionDecision": "deny"});
    play.answer(&hook, json!({"hookSpecificOutput": deny})).await;
    play.round().await;
    assert!(look.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn all_hooks_of_an_event_run_at_once_and_the_strictest_holds() {
    let look = looking("Look", Conduct::Succeed);
    let hooks = json!({"PreToolUse": [
        {"matcher": "Look", "hookCallbackIds": ["hook_0", "hook_1"]},
        {"matcher": null, "hookCallbackIds": ["hook_2"]},
    ]});
    let mut play = hooked(&look, "Look", hooks).await;
    let mut requests = Vec::new();
    for _ in 0..3 {
        requests.push(play.until("control_request/hook_callback").await);
    }
    let called: Vec<&Value> = requests.iter().map(|it| &it["request"]["callback_id"]).collect();
    assert_eq!(called, ["hook_0", "hook_1", "hook_2"]);
    let decide = |decision: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": decision, "permissionDecisionReason": "because"}})
    };
    // Answers come in any order.
    play.answer(&requests[2], decide("allow")).await;
    play.answer(&requests[0], decide("deny")).await;
    assert!(play.is_silent_for(1).await, "one hook has not answered yet");
    play.answer(&requests[1], decide("ask")).await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], "PreToolUse:Look hook error: because");
    assert!(look.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_allow_what_would_be_asked() {
    let touch = changing("Touch", Conduct::Succeed);
    let mut play = hooked(&touch, "Touch", for_everything("PreToolUse")).await;
    let hook = play.until("control_request/hook_callback").await;
    let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"at": "that"}, "additionalContext": "mind the step"});
    play.answer(&hook, json!({"hookSpecificOutput": specific})).await;
    let frames = play.round().await;
    assert!(!kinds(&frames).contains(&"control_request/can_use_tool".to_owned()));
    assert_eq!(touch.log(), [json!({"at": "that"})]);
    assert!(play.model.heard().contains("mind the step"));
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_answer_in_place_of_the_person() {
    let touch = changing("Touch", Conduct::Succeed);
    let mut play = hooked(&touch, "Touch", for_everything("PermissionRequest")).await;
    let hook = play.until("control_request/hook_callback").await;
    assert_eq!(hook["request"]["input"]["tool_name"], "Touch");
    let decision = json!({"behavior": "deny", "message": "The house says no."});
    let specific = json!({"hookEventName": "PermissionRequest", "decision": decision});
    play.answer(&hook, json!({"hookSpecificOutput": specific})).await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], "The house says no.");
}

#[tokio::test(start_paused = true)]
async fn hooks_after_a_call_see_how_it_ended() {
    for (conduct, event, field) in [
        (Conduct::Succeed, "PostToolUse", "tool_response"),
        (Conduct::Fail, "PostToolUseFailure", "error"),
    ] {
        let look = looking("Look", conduct);
        let mut play = hooked(&look, "Look", for_everything(event)).await;
        let hook = play.until("control_request/hook_callback").await;
        assert_eq!(hook["request"]["input"]["hook_event_name"], event);
        assert!(!hook["request"]["input"][field].is_null());
        play.answer(&hook, json!({"systemMessage": "noted"})).await;
        assert_eq!(play.until("system/notification").await["text"], "noted");
        play.until("result/success").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_passes_its_hooks_first() {
    let mut play = stage([says("Hm.")]).begin();
    play.hook(for_everything("UserPromptSubmit")).await;
    play.say("Hello").await;
    let hook = play.next().await.unwrap();
    assert_eq!(hook["request"]["input"]["prompt"], "Hello");
    assert!(hook["request"]["tool_use_id"].is_string(), "clients want an id for every event");
    let specific = json!({"hookEventName": "UserPromptSubmit", "additionalContext": "it is late"});
    play.answer(&hook, json!({"hookSpecificOutput": specific})).await;
    play.round().await;
    assert!(play.model.heard().contains("it is late"));

    play.say("Again").await;
    let hook = play.next().await.unwrap();
    play.answer(&hook, json!({"decision": "block", "reason": "enough"})).await;
    let frames = play.round().await;
    assert!(frames.last().unwrap()["result"].as_str().unwrap().contains("enough"));
    assert_eq!(play.model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stop_hook_may_send_the_model_back_to_work() {
    let mut play = stage([says("Finished."), says("Really finished.")]).begin();
    play.hook(for_everything("Stop")).await;
    play.say("Go").await;
    let hook = play.until("control_request/hook_callback").await;
    assert_eq!(hook["request"]["input"]["stop_hook_active"], false);
    play.answer(&hook, json!({"decision": "block", "reason": "tests are missing"})).await;
    let hook = play.until("control_request/hook_callback").await;
    assert_eq!(hook["request"]["input"]["stop_hook_active"], true);
    assert_eq!(hook["request"]["input"]["last_assistant_message"], "Really finished.");
    play.answer(&hook, json!({})).await;
    assert_eq!(play.round().await.last().unwrap()["result"], "Really finished.");
    assert!(play.model.heard().contains("tests are missing"));
}

#[tokio::test(start_paused = true)]
async fn hooks_of_calls_side_by_side_do_not_get_mixed_up() {
    let look = looking("Look", Conduct::Succeed);
    let response = script().call("Look", "toolu_1", &json!({"n": 1}));
    let response = response.call("Look", "toolu_2", &json!({"n": 2})).done();
    let mut play = stage([response, says("Done.")]).tools([&look]).begin();
    play.hook(for_everything("PreToolUse")).await;
    play.say("Go").await;
    let first = play.until("control_request/hook_callback").await;
    let second = play.until("control_request/hook_callback").await;
    assert_eq!(first["request"]["tool_use_id"], "toolu_1");
    play.answer(&second, json!({"decision": "block", "reason": "not two"})).await;
    play.answer(&first, json!({})).await;
    play.round().await;
    assert_eq!(look.log(), [json!({"n": 1})]);
}

#[tokio::test(start_paused = true)]
async fn the_newest_handshake_says_which_hooks_there_are() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([&look]).begin();
    play.hook(for_everything("PreToolUse")).await;
    play.hook(json!({})).await;
    play.say("Go").await;
    let frames = play.round().await;
    assert!(!kinds(&frames).contains(&"control_request/hook_callback".to_owned()));
}
