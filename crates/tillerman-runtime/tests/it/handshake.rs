//! The `initialize` request and what it changes.

use serde_json::{Value, json};

use crate::model::says;
use crate::stage::{Play, kinds, stage};

async fn system_after(play: &mut Play, hello: Value) -> Vec<String> {
    let answer = play.ask(hello).await;
    assert_eq!(answer["subtype"], "success");
    play.say("Go").await;
    play.round().await;
    let request = play.model.requests().pop().unwrap();
    request.system.into_iter().map(|block| block.text).collect()
}

#[tokio::test(start_paused = true)]
async fn the_answer_greets_and_tells_the_state() {
    let mut play = stage([]).begin();
    let answer = play.ask(json!({"subtype": "initialize", "hooks": null})).await;
    let greeting = &answer["response"];
    assert_eq!(greeting["pid"], 7);
    assert_eq!(greeting["current_permission_mode"], "default");
    assert_eq!(greeting["session_state"], "idle");
    assert_eq!(answer["pending_permission_requests"], json!([]));
    assert_eq!(answer["pending_user_dialog_requests"], json!([]));
    // A second one is as welcome as the first.
    assert_eq!(play.ask(json!({"subtype": "initialize"})).await["subtype"], "success");
}

#[tokio::test(start_paused = true)]
async fn without_a_system_prompt_the_one_of_the_start_holds() {
    let mut play = stage([]).begin();
    let system = system_after(&mut play, json!({"subtype": "initialize", "agents": {}})).await;
    assert_eq!(system, ["You are a test.", "You are nowhere."]);
}

#[tokio::test(start_paused = true)]
async fn the_host_may_bring_its_own_system_prompt() {
    let table = [
        (json!({"systemPrompt": "Be brief."}), "Be brief."),
        (json!({"systemPrompt": ["Be brief.", "Be kind."]}), "Be brief.\n\nBe kind."),
        (json!({"appendSystemPrompt": "Be kind."}), "You are a test.\n\nBe kind."),
        (
            json!({"systemPrompt": "Be brief.", "appendSystemPrompt": "Be kind."}),
            "Be brief.\n\nBe kind.",
        ),
    ];
    for (mut hello, expected) in table {
        hello["subtype"] = json!("initialize");
        let mut play = stage([]).begin();
        let system = system_after(&mut play, hello).await;
        assert_eq!(system, [expected, "You are nowhere."]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_system_prompt_is_none() {
    let mut play = stage([]).begin();
    let hello = json!({"subtype": "initialize", "systemPrompt": ""});
    assert_eq!(system_after(&mut play, hello).await, ["You are nowhere."]);
}

#[tokio::test(start_paused = true)]
async fn unknown_events_are_told_and_the_known_ones_work() {
    let mut play = stage([says("Hm.")]).begin();
    let hooks = json!({
        "BeforeLunch": [{"matcher": null, "hookCallbackIds": ["hook_0"]}],
        "Stop": [{"matcher": null, "hookCallbackIds": ["hook_1"]}],
    });
    play.request("req_1_00000000", json!({"subtype": "initialize", "hooks": hooks})).await;
    let told = play.until("system/notification").await;
    assert_eq!(told["key"], "unknown_hook_event");
    assert!(told["text"].as_str().unwrap().contains("BeforeLunch"));
    play.until("control_response").await;
    play.say("Go").await;
    let hook = play.until("control_request/hook_callback").await;
    assert_eq!(hook["request"]["callback_id"], "hook_1");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_in_the_middle_of_a_round_says_so() {
    let gate = crate::model::Gate::closed();
    let mut play = stage([crate::model::script().gate(&gate).text("Hm.").done()]).begin();
    play.say("Go").await;
    play.until("system/init").await;
    let answer = play.ask(json!({"subtype": "initialize"})).await;
    assert_eq!(answer["response"]["session_state"], "running");
    gate.open();
    assert_eq!(kinds(&play.round().await), ["assistant", "result/success"]);
}
