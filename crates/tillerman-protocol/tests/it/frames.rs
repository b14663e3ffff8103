//! Frames other than news and control.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::{Frame, ResultSubtype};

use crate::wire::{becomes, keeps, read};

fn kind(frame: &Frame) -> &'static str {
    match frame {
        Frame::Assistant(_) => "assistant",
        Frame::User(_) => "user",
        Frame::System(_) => "system",
        Frame::Result(_) => "result",
        Frame::StreamEvent(_) => "stream_event",
        Frame::ControlRequest(_) => "control_request",
        Frame::ControlResponse(_) => "control_response",
        Frame::ControlCancelRequest(_) => "control_cancel_request",
        Frame::TranscriptMirror(_) => "transcript_mirror",
        Frame::CommandLifecycle(_) => "command_lifecycle",
        Frame::ToolProgress(_) => "tool_progress",
        Frame::ToolUseSummary(_) => "tool_use_summary",
        Frame::RateLimitEvent(_) => "rate_limit_event",
        Frame::AuthStatus(_) => "auth_status",
        Frame::PromptSuggestion(_) => "prompt_suggestion",
        Frame::ConversationReset(_) => "conversation_reset",
        Frame::UpdateEnvironmentVariables(_) => "update_environment_variables",
        Frame::KeepAlive => "keep_alive",
        Frame::Unknown(_) => "unknown",
    }
}

#[test]
fn every_frame_is_known_by_its_type_and_kept_whole() {
    let table = [
        json!({"type": "keep_alive"}),
        json!({"type": "control_cancel_request", "request_id": "req_1"}),
        json!({"type": "update_environment_variables", "variables": {"A": "b"}}),
        json!({"type": "transcript_mirror", "filePath": "/a.jsonl", "entries": [{"type": "tag"}]}),
        json!({"type": "command_lifecycle", "command_uuid": "c", "state": "queued", "uuid": "u",
            "session_id": "s"}),
        json!({"type": "tool_progress", "tool_use_id": "t", "tool_name": "Bash",
            "parent_tool_use_id": null, "elapsed_time_seconds": 2.5, "task_id": "b1",
            "uuid": "u", "session_id": "s", "heartbeat": true}),
        json!({"type": "tool_use_summary", "summary": "Read three files",
            "preceding_tool_use_ids": ["t1", "t2"], "uuid": "u", "session_id": "s"}),
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning",
            "resetsAt": 1_700_000_000.0, "rateLimitType": "five_hour", "utilization": 0.9,
            "overageStatus": "rejected", "isUsingOverage": false}, "uuid": "u", "session_id": "s"}),
        json!({"type": "auth_status", "isAuthenticating": true, "output": ["Opening…"],
            "error": "no browser", "uuid": "u", "session_id": "s"}),
        json!({"type": "prompt_suggestion", "suggestion": "Run the tests", "uuid": "u",
            "session_id": "s"}),
        json!({"type": "conversation_reset", "new_conversation_id": "n", "trigger": "clear",
            "uuid": "u", "session_id": "s", "user_message_uuid": "m"}),
    ];
    for line in table {
        let frame: Frame = keeps(&line);
        assert_eq!(kind(&frame), line["type"].as_str().unwrap());
    }
}

#[test]
fn prompts_of_official_clients_are_read() {
    // Python: a string prompt, a client's prompt, a prompt with an id and its origin.
    let table = [
        json!({"type": "user", "session_id": "", "message": {"role": "user", "content": "Hi"},
            "parent_tool_use_id": null}),
        json!({"type": "user", "message": {"role": "user", "content": "Hi"},
            "parent_tool_use_id": null, "session_id": "default"}),
        json!({"type": "user", "session_id": "", "uuid": "3f0c", "client_composed": true,
            "origin": {"kind": "human"}, "parent_tool_use_id": null, "priority": "now",
            "shouldQuery": false, "message": {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                    "data": "iVBORw0KGgo="}}]}}),
    ];
    for line in table {
        let frame: Frame = keeps(&line);
        assert_eq!(kind(&frame), "user");
    }
    let bare = json!({"type": "user", "message": {"role": "user", "content": "Hi"}});
    let full = json!({"type": "user", "message": {"role": "user", "content": "Hi"},
        "parent_tool_use_id": null});
    becomes::<Frame>(&bare, &full);
}

#[test]
fn a_prompt_survives_a_strange_timestamp() {
    for timestamp in [json!("yesterday"), json!({}), json!([]), json!(true), json!(1.5)] {
        let line = json!({"type": "user", "message": {"role": "user", "content": "Hi"},
            "timestamp": timestamp});
        let Frame::User(frame) = read(&line) else { panic!("{line}") };
        assert_eq!(frame.timestamp.unwrap().as_millis(), 0, "{line}");
    }
    let line = json!({"type": "user", "message": {"role": "user", "content": "Hi"},
        "timestamp": 1_700_000_000_123_i64});
    let Frame::User(frame) = read(&line) else { panic!("{line}") };
    assert_eq!(frame.timestamp.unwrap().to_string(), "2023-11-14T22:13:20.123Z");
}

#[test]
fn tool_results_and_replays_are_read() {
    let line = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done", "is_error": true}]},
        "parent_tool_use_id": "toolu_0", "session_id": "s", "uuid": "u",
        "timestamp": "2026-01-02T03:04:05.678Z", "tool_use_result": {"stdout": "done"},
        "tool_result_meta": [{"id": "toolu_1", "permission_decision": {"decision": "allow"},
            "non_execution_kind": "denied"}], "subagent_type": "explore"});
    let Frame::User(frame) = keeps(&line) else { panic!("{line}") };
    let Content::Blocks(blocks) = &frame.message.content else { panic!("{frame:?}") };
    assert!(matches!(&blocks[0], Block::ToolResult(result) if result.is_error));
    let replay = json!({"type": "user", "message": {"role": "user", "content": "Hi"},
        "parent_tool_use_id": null, "session_id": "s", "uuid": "u", "isReplay": true,
        "isSynthetic": true, "file_attachments": []});
    let Frame::User(frame) = keeps(&replay) else { panic!("{replay}") };
    assert_eq!((frame.is_replay, frame.is_synthetic), (Some(true), Some(true)));
}

#[test]
fn what_the_model_says_is_read_block_by_block() {
    let message = |block: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [block], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 3, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 9, "output_tokens": 1, "service_tier": "standard"},
            "context_management": null})
    };
    let blocks = [
        json!({"type": "text", "text": "Hello", "citations": null}),
        json!({"type": "thinking", "thinking": "Hm", "signature": "c2ln"}),
        json!({"type": "redacted_thinking", "data": "b3BhcXVl"}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        json!({"type": "advisor_tool_result", "tool_use_id": "t", "content": []}),
        json!({"type": "from_the_future", "anything": [1, 2]}),
    ];
    for block in blocks {
        let line = json!({"type": "assistant", "message": message(block), "parent_tool_use_id": null,
            "session_id": "s", "uuid": "u", "timestamp": "2026-01-02T03:04:05.678Z",
            "request_id": "req_1", "user_message_uuid": "p", "subagent_type": "explore"});
        let frame: Frame = keeps(&line);
        assert_eq!(kind(&frame), "assistant", "{line}");
    }
    let failure = json!({"type": "assistant", "message": {"model": "<synthetic>", "content": []},
        "session_id": "s", "uuid": "u", "error": "rate_limit", "is_api_error_message": true,
        "api_error_status": 429});
    let Frame::Assistant(frame) = read(&failure) else { panic!("{failure}") };
    assert_eq!((frame.error.as_deref(), frame.api_error_status), (Some("rate_limit"), Some(429)));
    assert_eq!(
        (frame.message.kind.as_str(), frame.message.role.as_str()),
        ("message", "assistant")
    );
}

#[test]
fn a_result_is_read_whatever_else_it_says() {
    // The type does not come first, and there are many fields that nobody here acts on.
    let line = json!({"is_error": false, "duration_ms": 1200, "duration_api_ms": 900, "num_turns": 2,
        "result": "Done.", "stop_reason": "end_turn", "total_cost_usd": 0.0123,
        "usage": {"input_tokens": 3, "cache_creation_input_tokens": 1,
            "cache_read_input_tokens": 2, "output_tokens": 4, "server_tool_use": {}},
        "modelUsage": {"m": {"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 2,
            "cacheCreationInputTokens": 1, "webSearchRequests": 0, "costUSD": 0.0123,
            "contextWindow": 200_000, "maxOutputTokens": 64_000}},
        "permission_denials": [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}],
        "terminal_reason": "completed", "ttft_ms": 400, "fast_mode_state": "off",
        "deferred_tool_use": {"id": "t", "name": "Bash", "input": {}}, "structured_output": [1],
        "user_message_uuids": ["p"], "subagent_stats": {}, "result_index": 0,
        "session_id": "s", "uuid": "u", "subtype": "success", "type": "result"});
    let Frame::Result(result) = keeps(&line) else { panic!("{line}") };
    assert_eq!(result.subtype, ResultSubtype::Success);
    assert_eq!(result.model_usage["m"].context_window, 200_000);
}

#[test]
fn the_least_a_result_must_say_is_enough() {
    let line = json!({"type": "result", "subtype": "success", "duration_ms": 1,
        "duration_api_ms": 0, "is_error": false, "num_turns": 1, "session_id": "s"});
    let Frame::Result(result) = read(&line) else { panic!("{line}") };
    assert_eq!(result.result, None);
    let line = json!({"type": "result", "subtype": "success", "duration_ms": 1, "result": null,
        "duration_api_ms": 0, "is_error": false, "num_turns": 1, "session_id": "s",
        "usage": null, "modelUsage": null, "permission_denials": null, "stop_reason": null});
    assert_eq!(kind(&read(&line)), "result");
}

#[test]
fn every_ending_has_a_name_and_new_ones_still_end_the_round() {
    use ResultSubtype as R;
    let table = [
        ("success", R::Success),
        ("error_during_execution", R::ErrorDuringExecution),
        ("error_max_turns", R::ErrorMaxTurns),
        ("error_max_budget_usd", R::ErrorMaxBudgetUsd),
        ("error_max_structured_output_retries", R::ErrorMaxStructuredOutputRetries),
        ("error_of_the_future", R::Other("error_of_the_future".to_owned())),
    ];
    for (name, expected) in table {
        let subtype: R = keeps(&json!(name));
        assert_eq!(subtype, expected);
    }
}

#[test]
fn what_is_not_known_arrives_as_it_came() {
    let table = [
        json!({"type": "from_the_future", "uuid": 7}),
        json!({"no": "type"}),
        json!({"type": null}),
        json!({"type": {"user": 1}}),
        json!({"type": "user"}),
        json!({"type": "user", "message": {"role": "robot", "content": "Hi"}}),
        json!({"type": "result", "subtype": 7}),
        json!({"type": "rate_limit_event", "rate_limit_info": {}}),
        json!({"type": "control_request", "request_id": 5, "request": {}}),
        json!({"type": "control_response", "response": {"subtype": "perhaps"}}),
        json!({}),
        json!([1, "two"]),
        json!("text"),
        json!(null),
    ];
    for line in table {
        let frame: Frame = keeps(&line);
        assert_eq!(kind(&frame), "unknown", "{line}");
    }
}
