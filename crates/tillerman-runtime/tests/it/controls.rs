//! Control requests of the host, one by one.

use serde_json::{Value, json};
use tillerman_protocol::model::Thinking;

use crate::model::{Gate, says, script};
use crate::stage::{kinds, stage};

#[tokio::test(start_paused = true)]
async fn another_mode_is_announced() {
    let mut play = stage([]).begin();
    play.request("req_1", json!({"subtype": "set_permission_mode", "mode": "plan"})).await;
    assert_eq!(play.until("system/status").await["permissionMode"], "plan");
    let answer = play.until("control_response").await;
    assert_eq!(answer["response"]["response"], json!({"mode": "plan"}));
    // Hosts may use the name that people see.
    let answer = play.ask(json!({"subtype": "set_permission_mode", "mode": "manual"})).await;
    assert_eq!(answer["response"]["mode"], "default");
}

#[tokio::test(start_paused = true)]
async fn modes_that_cannot_be_had_are_refused_by_code() {
    let mut play = stage([]).begin();
    let mut refuse = async |mode: &str| {
        let answer = play.ask(json!({"subtype": "set_permission_mode", "mode": mode})).await;
        assert_eq!(answer["subtype"], "error");
        answer["error_code"].clone()
    };
    assert_eq!(refuse("whatever").await, "invalid_mode");
    assert_eq!(refuse("bypassPermissions").await, "bypass_not_launched");

    let mut stage = stage([]);
    stage.setup.may_bypass = true;
    let mut play = stage.begin();
    let request = json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"});
    assert_eq!(play.ask(request).await["response"]["mode"], "bypassPermissions");
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_from_then_on() {
    let table = [
        (json!("swift"), "test-swift-2"),
        (json!("somebody-elses-model"), "somebody-elses-model"),
        (json!("default"), "test-model"),
        (json!(null), "test-model"),
    ];
    let mut play = stage([]).begin();
    for (name, expected) in table {
        let answer = play.ask(json!({"subtype": "set_model", "model": name})).await;
        assert_eq!(answer["response"], json!({"model": expected}));
        play.say("Who is there?").await;
        let frames = play.round().await;
        assert_eq!(frames[0]["model"], expected);
        assert_eq!(play.model.requests().last().unwrap().model, expected);
    }
    let answer = play.ask(json!({"subtype": "set_model"})).await;
    assert_eq!(answer["response"]["model"], "test-model");
}

#[tokio::test(start_paused = true)]
async fn thinking_is_limited_switched_off_and_given_back() {
    let table = [
        (json!({"max_thinking_tokens": 4096}), Thinking::Budget(4096)),
        (json!({"max_thinking_tokens": 0}), Thinking::Disabled),
        (json!({"max_thinking_tokens": null}), Thinking::Unset),
        (json!({}), Thinking::Unset),
    ];
    let mut play = stage([]).begin();
    for (mut request, expected) in table {
        request["subtype"] = json!("set_max_thinking_tokens");
        assert_eq!(play.ask(request).await["response"], json!({}));
        play.say("Think").await;
        play.round().await;
        assert_eq!(play.model.requests().last().unwrap().thinking, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_session_knows_is_told() {
    let mut play = stage([says("Hm.")]).begin();
    play.say("Go").await;
    play.round().await;
    let answer = play.ask(json!({"subtype": "mcp_status"})).await;
    assert_eq!(answer["response"]["mcpServers"], json!([]));
    let answer = play.ask(json!({"subtype": "get_settings"})).await;
    assert_eq!(answer["response"]["sources"], json!([]));
    assert_eq!(answer["response"]["applied"]["model"], "test-model");
    let usage = play.ask(json!({"subtype": "get_context_usage"})).await["response"].clone();
    let tokens = |value: &Value| value.as_u64().unwrap();
    let categories = usage["categories"].as_array().unwrap();
    assert_eq!(categories.iter().map(|it| tokens(&it["tokens"])).sum::<u64>(), 100_000);
    assert_eq!(categories.iter().filter(|it| it["kind"] == "free").count(), 1);
    let ids: Vec<&str> = categories.iter().filter_map(|it| it["id"].as_str()).collect();
    let expected = ["system_prompt", "system_tools", "memory_files", "messages", "free_space"];
    assert_eq!(ids, [&expected[..], &["autocompact_buffer"]].concat());
    assert_eq!(tokens(&usage["autoCompactThreshold"]), 85_000);
    assert_eq!(tokens(&categories[5]["tokens"]), 15_000);
    assert_eq!(tokens(&usage["maxTokens"]), 100_000);
    assert!(tokens(&usage["totalTokens"]) >= 17, "{usage}");
    assert_eq!(usage["model"], "test-model");
    for required in ["memoryFiles", "mcpTools", "agents", "gridRows", "percentage", "rawMaxTokens"]
    {
        assert!(!usage[required].is_null(), "{required}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_waits_can_be_taken_back() {
    let gate = Gate::closed();
    let mut play = stage([script().gate(&gate).text("First.").done()]).begin();
    play.say("One").await;
    play.until("system/init").await;
    let waiting =
        json!({"type": "user", "uuid": "two", "message": {"role": "user", "content": "Two"}});
    play.send(waiting).await;
    let withdraw = json!({"subtype": "cancel_async_message", "message_uuid": "two"});
    assert_eq!(play.ask(withdraw.clone()).await["response"], json!({"cancelled": true}));
    assert_eq!(play.ask(withdraw).await["response"], json!({"cancelled": false}));
    gate.open();
    play.round().await;
    play.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_names_the_prompts_that_still_wait() {
    let gate = Gate::closed();
    let mut play = stage([script().gate(&gate).text("First.").done(), says("Second.")]).begin();
    play.say("One").await;
    play.until("system/init").await;
    let waiting =
        json!({"type": "user", "uuid": "two", "message": {"role": "user", "content": "Two"}});
    play.send(waiting).await;
    let answer = play.ask(json!({"subtype": "interrupt"})).await;
    assert_eq!(answer["response"], json!({"still_queued": ["two"]}));
    assert_eq!(play.until("result").await["terminal_reason"], "aborted_streaming");
    assert_eq!(play.until("result").await["result"], "Second.");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_of_nothing_is_harmless() {
    let mut play = stage([says("Hm.")]).begin();
    let answer = play.ask(json!({"subtype": "interrupt"})).await;
    assert_eq!(answer["response"], json!({"still_queued": []}));
    play.say("Go").await;
    assert_eq!(play.round().await.last().unwrap()["result"], "Hm.");
}

#[tokio::test(start_paused = true)]
async fn a_task_nobody_knows_has_been_stopped_already() {
    let mut play = stage([]).begin();
    let answer = play.ask(json!({"subtype": "stop_task", "task_id": "b123"})).await;
    assert_eq!(answer["subtype"], "success");
    assert_eq!(answer["response"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_it_is_told_to() {
    let gate = Gate::closed();
    let mut play = stage([script().gate(&gate).text("Last words.").done()]).begin();
    play.say("Go").await;
    play.until("system/init").await;
    assert_eq!(play.ask(json!({"subtype": "end_session"})).await["subtype"], "success");
    gate.open();
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["assistant", "result/success"]);
    assert!(!end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn without_checkpoints_nothing_is_rewound() {
    let mut play = stage([]).begin();
    let answer = play.ask(json!({"subtype": "rewind_files", "user_message_id": "u"})).await;
    assert_eq!(answer["subtype"], "error");
    assert_eq!(answer["error_code"], "checkpointing_off");
    // Whoever only wants to know is told.
    let dry = json!({"subtype": "rewind_files", "user_message_id": "u", "dry_run": true});
    let answer = play.ask(dry).await;
    assert_eq!(answer["response"]["canRewind"], false);
    assert!(answer["response"]["error"].as_str().unwrap().contains("checkpointing"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_yet_is_admitted() {
    let mut play = stage([]).begin();
    let requests = [json!({"subtype": "generate_session_title", "description": "x"})];
    for request in requests {
        let answer = play.ask(request.clone()).await;
        assert_eq!(answer["error_code"], "not_available", "{request}");
        let name = request["subtype"].as_str().unwrap();
        assert!(answer["error"].as_str().unwrap().starts_with(name), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_is_refused_by_name() {
    let mut play = stage([]).begin();
    let answer = play.ask(json!({"subtype": "make_coffee", "sugar": 2})).await;
    assert_eq!(answer["subtype"], "error");
    assert_eq!(answer["error"], "Unsupported control request subtype: make_coffee");
    assert_eq!(answer["error_code"], "unsupported_request");
    // Requests of the other direction have no business here.
    let request = json!({"subtype": "mcp_message", "server_name": "notes", "message": {}});
    assert_eq!(play.ask(request).await["error_code"], "unsupported_request");
}
