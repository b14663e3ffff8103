//! Hooks that fail, stay silent or cannot be reached.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_runtime::Inbound;
use tokio::time::Instant;

use crate::model::{calls, says};
use crate::stage::{Play, kinds, stage, tool_result};
use crate::tools::{Conduct, TestTool, looking};

async fn hooked(tool: &TestTool, hooks: Value) -> (Play, Value) {
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([tool]).begin();
    play.hook(hooks).await;
    play.say("Go").await;
    let hook = play.until("control_request/hook_callback").await;
    (play, hook)
}

fn registration(event: &str, details: &Value) -> Value {
    let mut registration = json!({"matcher": null, "hookCallbackIds": ["hook_0"]});
    for (key, value) in details.as_object().unwrap() {
        registration[key] = value.clone();
    }
    json!({event: [registration]})
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_does_not_answer_in_time_stays_shut() {
    for (details, seconds) in
        [(json!({"timeout": 5}), 5), (json!({"timeout": 0.5}), 0), (json!({}), 60)]
    {
        let look = looking("Look", Conduct::Succeed);
        let began = Instant::now();
        let (mut play, hook) = hooked(&look, registration("PreToolUse", &details)).await;
        let cancel = play.next().await.unwrap();
        assert_eq!(cancel["type"], "control_cancel_request");
        assert_eq!(cancel["request_id"], hook["request_id"]);
        assert_eq!(began.elapsed().as_secs(), seconds);
        let frames = play.round().await;
        let result = tool_result(&frames);
        assert_eq!(result["is_error"], true);
        assert!(result["content"].as_str().unwrap().contains("timeout"), "{result}");
        assert!(look.log().is_empty());
        // An answer that comes too late changes nothing.
        play.answer(&hook, json!({})).await;
        let (rest, _) = play.close().await;
        assert_eq!(kinds(&rest), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_elsewhere_does_not_hold_the_work_up() {
    let look = looking("Look", Conduct::Succeed);
    let (mut play, _) = hooked(&look, registration("PostToolUse", &json!({"timeout": 5}))).await;
    play.until("control_cancel_request").await;
    assert_eq!(play.round().await.last().unwrap()["result"], "Done.");
    assert_eq!(look.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nonsense_for_a_timeout_means_the_usual_one() {
    for timeout in [json!(0), json!(-3), json!(null)] {
        let look = looking("Look", Conduct::Succeed);
        let began = Instant::now();
        let hooks = registration("PreToolUse", &json!({"timeout": timeout}));
        let (mut play, _) = hooked(&look, hooks).await;
        play.until("control_cancel_request").await;
        assert_eq!(began.elapsed(), Duration::from_secs(60), "{timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_hook_has_no_opinion_unless_it_is_to_block() {
    for (details, runs) in [
        (json!({}), true),
        (json!({"onFailure": "continue"}), true),
        (json!({"onFailure": "block"}), false),
    ] {
        let look = looking("Look", Conduct::Succeed);
        let (mut play, hook) = hooked(&look, registration("PreToolUse", &details)).await;
        play.answer_error(&hook, "the callback raised").await;
        let told = play.next().await.unwrap();
        assert_eq!(told["key"], "hook_failed");
        assert!(told["text"].as_str().unwrap().contains("the callback raised"));
        let frames = play.round().await;
        assert_eq!(look.log().len(), usize::from(runs), "{details}");
        assert_eq!(tool_result(&frames)["is_error"] == true, !runs);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_hook_output_is_a_failure() {
    for answer in
        [json!("yes"), json!(7), json!({"continue": "no"}), json!({"hookSpecificOutput": 3})]
    {
        let look = looking("Look", Conduct::Succeed);
        let hooks = registration("PreToolUse", &json!({"onFailure": "block"}));
        let (mut play, hook) = hooked(&look, hooks).await;
        play.answer(&hook, answer.clone()).await;
        assert_eq!(play.next().await.unwrap()["key"], "hook_failed", "{answer}");
        play.round().await;
        assert!(look.log().is_empty(), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_content_has_no_opinion() {
    let look = looking("Look", Conduct::Succeed);
    let (mut play, hook) = hooked(&look, registration("PreToolUse", &json!({}))).await;
    let response = json!({"subtype": "success", "request_id": hook["request_id"]});
    play.send(json!({"type": "control_response", "response": response})).await;
    play.round().await;
    assert_eq!(look.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_goes_on_in_the_background_has_no_opinion() {
    let look = looking("Look", Conduct::Succeed);
    let (mut play, hook) = hooked(&look, registration("PreToolUse", &json!({}))).await;
    play.answer(&hook, json!({"async": true, "asyncTimeout": 30})).await;
    play.round().await;
    assert_eq!(look.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn closing_the_input_shuts_the_gate_and_waits_for_nobody() {
    let look = looking("Look", Conduct::Succeed);
    let began = Instant::now();
    let (play, _) = hooked(&look, registration("PreToolUse", &json!({}))).await;
    let (frames, end) = play.close().await;
    assert!(tool_result(&frames)["content"].as_str().unwrap().contains("input was closed"));
    assert_eq!(kinds(&frames), ["user", "assistant", "result/success"]);
    assert!(look.log().is_empty());
    assert!(!end.last_result_failed);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn hooks_that_come_up_after_the_input_was_closed_are_not_waited_for() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([&look]).begin();
    let hooks = json!({
        "PreToolUse": [{"hookCallbackIds": ["hook_0"]}],
        "Stop": [{"hookCallbackIds": ["hook_1"]}],
    });
    play.hook(hooks).await;
    let began = Instant::now();
    play.say("Go").await;
    let (frames, _) = play.close().await;
    let expected = ["system/init", "assistant", "user", "assistant", "result/success"];
    assert_eq!(kinds(&frames), expected);
    assert!(look.log().is_empty(), "the gate cannot be asked, so it stays shut");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_takes_the_callback_back() {
    let look = looking("Look", Conduct::Succeed);
    let (mut play, hook) = hooked(&look, registration("PreToolUse", &json!({}))).await;
    play.tell(Inbound::Interrupt).await;
    let cancel = play.until("control_cancel_request").await;
    assert_eq!(cancel["request_id"], hook["request_id"]);
    play.until("result/error_during_execution").await;
    play.answer(&hook, json!({})).await;
    let (rest, _) = play.close().await;
    assert_eq!(kinds(&rest), Vec::<String>::new());
    assert!(look.log().is_empty());
}
