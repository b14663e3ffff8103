//! Frames that make no sense: hosts hear of their mistakes, and nothing else happens.

use serde_json::json;

use crate::model::{calls, says};
use crate::stage::{kinds, stage, tool_result};
use crate::tools::{Conduct, changing};

#[tokio::test(start_paused = true)]
async fn a_known_request_with_wrong_fields_is_not_called_unknown() {
    let mut play = stage([]).begin();
    let requests = [
        json!({"subtype": "set_model", "model": 5}),
        json!({"subtype": "set_permission_mode"}),
        json!({"subtype": "stop_task"}),
        json!({"subtype": "cancel_async_message", "message_uuid": null}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": -1}),
        json!({"subtype": "initialize", "hooks": "all"}),
    ];
    for request in requests {
        let answer = play.ask(request.clone()).await;
        assert_eq!(answer["error_code"], "invalid_request", "{request}");
        let name = request["subtype"].as_str().unwrap();
        assert!(answer["error"].as_str().unwrap().contains(name), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_subtype_is_answered_all_the_same() {
    let mut play = stage([]).begin();
    assert_eq!(play.ask(json!({})).await["error_code"], "unsupported_request");
    assert_eq!(play.ask(json!("interrupt")).await["error_code"], "invalid_request");
    assert_eq!(play.ask(json!(null)).await["error_code"], "invalid_request");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_id_is_told_of() {
    let mut play = stage([]).begin();
    play.send(json!({"type": "control_request", "request": {"subtype": "interrupt"}})).await;
    assert_eq!(play.next().await.unwrap()["key"], "bad_control_request");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_nobody_can_read_is_told_of() {
    let mut play = stage([says("Hm.")]).begin();
    play.send(json!({"type": "user", "content": "Hello"})).await;
    let told = play.next().await.unwrap();
    assert_eq!(told["key"], "bad_prompt");
    assert_eq!(told["session_id"], crate::stage::SESSION);
    // A strange timestamp is no reason to lose a prompt.
    let message = json!({"role": "user", "content": "Hello"});
    play.send(json!({"type": "user", "timestamp": {}, "message": message})).await;
    assert_eq!(play.round().await.last().unwrap()["result"], "Hm.");
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_a_broken_envelope_denies() {
    for response in [
        |id: &serde_json::Value| json!({"subtype": "maybe", "request_id": id}),
        |id: &serde_json::Value| json!({"request_id": id, "response": {"behavior": "allow"}}),
    ] {
        let touch = changing("Touch", Conduct::Succeed);
        let scripts = [calls("Touch", "toolu_1", &json!({})), says("Done.")];
        let mut play = stage(scripts).tools([&touch]).begin();
        play.say("Go").await;
        let question = play.until("control_request/can_use_tool").await;
        let response = response(&question["request_id"]);
        play.send(json!({"type": "control_response", "response": response})).await;
        let frames = play.round().await;
        assert_eq!(frames[0]["key"], "bad_control_response");
        assert_eq!(tool_result(&frames)["is_error"], true);
        assert!(touch.log().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn frames_of_other_versions_are_passed_over() {
    let mut play = stage([says("Hm.")]).begin();
    let frames = [
        json!({"type": "keep_alive"}),
        json!({"type": "update_environment_variables", "variables": {"A": "b"}}),
        json!({"type": "control_cancel_request", "request_id": "x"}),
        json!({"type": "something_new", "uuid": 7}),
        json!({"type": 7}),
        json!({}),
        json!([1, 2]),
        json!({"type": "result", "subtype": "success"}),
    ];
    for frame in frames {
        play.send(frame).await;
    }
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "result/success"]);
}
