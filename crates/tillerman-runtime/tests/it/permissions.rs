//! Questions to the host and its answers.

use serde_json::{Value, json};
use tillerman_runtime::Inbound;

use crate::model::{calls, says, script};
use crate::stage::{Play, kinds, stage, tool_result};
use crate::tools::{Conduct, TestTool, changing};

/// A session in which the model wants to use a tool that needs permission.
async fn asking(tool: &TestTool) -> (Play, Value) {
    let input = json!({"what": "it", "description": "touch it"});
    let scripts = [calls("Touch", "toolu_1", &input), says("Done.")];
    let mut play = stage(scripts).tools([tool]).begin();
    play.say("Touch it").await;
    let question = play.until("control_request/can_use_tool").await;
    (play, question)
}

#[tokio::test(start_paused = true)]
async fn the_question_says_what_is_wanted() {
    let touch = changing("Touch", Conduct::Succeed);
    let (_play, question) = asking(&touch).await;
    let request = &question["request"];
    assert_eq!(request["tool_name"], "Touch");
    assert_eq!(request["display_name"], "Touch");
    assert_eq!(request["input"]["what"], "it");
    assert_eq!(request["description"], "touch it");
    assert_eq!(request["tool_use_id"], "toolu_1");
    assert_eq!(request["permission_suggestions"][0]["type"], "addRules");
    assert!(request["decision_reason"].is_string());
    assert!(touch.log().is_empty(), "nobody has answered yet");
}

#[tokio::test(start_paused = true)]
async fn yes_runs_the_call_as_it_is() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    play.answer(&question, json!({"behavior": "allow", "toolUseID": "toolu_1"})).await;
    let frames = play.round().await;
    assert_eq!(touch.log()[0]["what"], "it");
    assert_eq!(frames.last().unwrap()["permission_denials"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_told_to_end_takes_no_question_back() {
    let touch = changing("Touch", Conduct::Succeed);
    let (play, _) = asking(&touch).await;
    play.tell(Inbound::ShutDown).await;
    let (frames, _) = play.rest().await;
    assert_eq!(kinds(&frames), Vec::<String>::new(), "whoever resumes it is asked again");
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn another_input_takes_the_place_of_the_first() {
    for (answer, expected) in
        [(json!({"what": "that"}), json!({"what": "that"})), (json!({}), json!({}))]
    {
        let touch = changing("Touch", Conduct::Succeed);
        let (mut play, question) = asking(&touch).await;
        play.answer(&question, json!({"behavior": "allow", "updatedInput": answer})).await;
        play.round().await;
        assert_eq!(touch.log(), [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn another_input_is_judged_by_the_deny_rules() {
    let touch = changing("Touch", Conduct::Succeed);
    let scripts = [calls("Touch", "toolu_1", &json!({"command": "ls"})), says("Done.")];
    let mut play = stage(scripts).tools([&touch]).deny("Touch(command:rm *)").begin();
    play.say("Go").await;
    let question = play.until("control_request/can_use_tool").await;
    let answer = json!({"behavior": "allow", "updatedInput": {"command": "rm everything"}});
    play.answer(&question, answer).await;
    let frames = play.round().await;
    assert!(touch.log().is_empty());
    assert_eq!(tool_result(&frames)["is_error"], true);
}

#[tokio::test(start_paused = true)]
async fn updates_hold_from_then_on() {
    let touch = changing("Touch", Conduct::Succeed);
    let call = |id: &str| calls("Touch", id, &json!({}));
    let scripts = [call("toolu_1"), call("toolu_2"), says("Done.")];
    let mut play = stage(scripts).tools([&touch]).begin();
    play.say("Go").await;
    let question = play.until("control_request/can_use_tool").await;
    // A client that leaves the destination out means this session.
    let rules = json!([{"toolName": "Touch"}]);
    let update = json!({"type": "addRules", "rules": rules, "behavior": "allow"});
    let answer = json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [update]});
    play.answer(&question, answer).await;
    let frames = play.round().await;
    assert!(!kinds(&frames).contains(&"control_request/can_use_tool".to_owned()));
    assert_eq!(touch.log().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_mode_among_the_updates_is_told() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    let update = json!({"type": "setMode", "mode": "dontAsk", "destination": "session"});
    play.answer(&question, json!({"behavior": "allow", "updatedPermissions": [update]})).await;
    assert_eq!(play.until("system/status").await["permissionMode"], "dontAsk");
}

#[tokio::test(start_paused = true)]
async fn no_is_told_to_the_model_in_the_hosts_words() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    play.answer(&question, json!({"behavior": "deny", "message": "Not today."})).await;
    let frames = play.round().await;
    let result = tool_result(&frames);
    assert_eq!((&result["content"], &result["is_error"]), (&json!("Not today."), &json!(true)));
    assert_eq!(frames.last().unwrap()["permission_denials"][0]["tool_use_id"], "toolu_1");
    assert_eq!(frames.last().unwrap()["subtype"], "success");
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn no_may_end_the_round() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    let answer = json!({"behavior": "deny", "message": "Stop.", "interrupt": true});
    play.answer(&question, answer).await;
    let frames = play.round().await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_tools");
    assert_eq!(play.model.requests().len(), 1);
    let (_, end) = play.close().await;
    assert!(end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn an_answer_nobody_can_read_is_no_consent() {
    let unreadable = [
        json!({"behavior": "perhaps"}),
        json!({"behaviour": "allow"}),
        json!("allow"),
        json!(null),
        json!({"behavior": "allow", "updatedPermissions": "all"}),
    ];
    for answer in unreadable {
        let touch = changing("Touch", Conduct::Succeed);
        let (mut play, question) = asking(&touch).await;
        play.answer(&question, answer.clone()).await;
        let frames = play.round().await;
        let told = &frames[0];
        assert_eq!(told["key"], "bad_permission_answer", "{answer}");
        assert_eq!(told["priority"], "high");
        assert!(told["text"].as_str().unwrap().contains("The call was denied"));
        assert_eq!(tool_result(&frames)["is_error"], true);
        assert!(touch.log().is_empty(), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_no_consent_either() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    play.answer_error(&question, "the callback raised").await;
    let frames = play.round().await;
    let content = tool_result(&frames)["content"].as_str().unwrap().to_owned();
    assert_eq!(content, "Tool permission request failed: the callback raised");
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_the_first_answer_counts_and_strangers_are_ignored() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    play.answer(&json!({"request_id": "somebody-else"}), json!({"behavior": "allow"})).await;
    play.answer(&question, json!({"behavior": "deny", "message": "No."})).await;
    play.answer(&question, json!({"behavior": "allow"})).await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], "No.");
    let (rest, _) = play.close().await;
    assert_eq!(kinds(&rest), Vec::<String>::new());
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_takes_the_question_back() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    play.tell(Inbound::Interrupt).await;
    let cancel = play.until("control_cancel_request").await;
    assert_eq!(cancel["request_id"], question["request_id"]);
    assert_eq!(play.until("result").await["terminal_reason"], "aborted_tools");
    // A late answer finds nothing to allow.
    play.answer(&question, json!({"behavior": "allow"})).await;
    play.close().await;
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn closing_the_input_takes_the_question_back_and_the_round_goes_on() {
    let touch = changing("Touch", Conduct::Succeed);
    let (play, question) = asking(&touch).await;
    let (frames, end) = play.close().await;
    assert_eq!(frames[0]["type"], "control_cancel_request");
    assert_eq!(frames[0]["request_id"], question["request_id"]);
    assert_eq!(frames.last().unwrap()["result"], "Done.");
    assert!(!end.last_result_failed);
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn two_questions_are_answered_in_any_order() {
    let touch = changing("Touch", Conduct::Succeed);
    let first = script().call("Touch", "toolu_1", &json!({"n": 1}));
    let response = first.call("Touch", "toolu_2", &json!({"n": 2})).done();
    let mut play = stage([response, says("Done.")]).tools([&touch]).begin();
    play.say("Go").await;
    let one = play.until("control_request/can_use_tool").await;
    play.answer(&one, json!({"behavior": "deny", "message": "Not the first."})).await;
    let two = play.until("control_request/can_use_tool").await;
    assert_ne!(one["request_id"], two["request_id"]);
    play.answer(&two, json!({"behavior": "allow"})).await;
    play.round().await;
    assert_eq!(touch.log(), [json!({"n": 2})]);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_be_asked_the_call_is_denied_and_shown() {
    let touch = changing("Touch", Conduct::Succeed);
    let scripts = [calls("Touch", "toolu_1", &json!({})), says("Done.")];
    let mut stage = stage(scripts).tools([&touch]);
    stage.setup.engine.has_approver = false;
    let mut play = stage.begin();
    play.say("Go").await;
    let denied = play.until("system/permission_denied").await;
    assert_eq!(denied["tool_use_id"], "toolu_1");
    play.until("result/success").await;
    assert!(touch.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_no_side_door_to_bypassing() {
    for may_bypass in [false, true] {
        let touch = changing("Touch", Conduct::Succeed);
        let scripts = [calls("Touch", "toolu_1", &json!({})), says("Done.")];
        let mut stage = stage(scripts).tools([&touch]);
        stage.setup.may_bypass = may_bypass;
        let mut play = stage.begin();
        play.say("Go").await;
        let question = play.until("control_request/can_use_tool").await;
        let update =
            json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"});
        play.answer(&question, json!({"behavior": "allow", "updatedPermissions": [update]})).await;
        let frames = play.round().await;
        let told = frames.iter().any(|frame| frame["key"] == "bypass_not_launched");
        let switched = frames.iter().any(|frame| frame["permissionMode"] == "bypassPermissions");
        assert_eq!((told, switched), (!may_bypass, may_bypass));
        assert_eq!(touch.log().len(), 1, "the call itself was allowed");
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_that_cannot_be_kept_is_reported() {
    let touch = changing("Touch", Conduct::Succeed);
    let (mut play, question) = asking(&touch).await;
    let update = json!({
        "type": "addRules",
        "rules": [{"toolName": "Touch"}],
        "behavior": "allow",
        "destination": "userSettings",
    });
    play.answer(&question, json!({"behavior": "allow", "updatedPermissions": [update]})).await;
    let frames = play.round().await;
    let told = frames.iter().find(|frame| frame["key"] == "permission_not_kept").unwrap();
    assert!(told["text"].as_str().unwrap().contains("read-only"), "{told}");
}
