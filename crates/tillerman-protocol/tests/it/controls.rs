//! Control requests and answers that official clients exchange with the CLI.

use serde_json::{Value, json};
use tillerman_protocol::control::{ControlAnswer, ControlBody, ControlResponse};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::hook::HookDetail;

use crate::wire::{becomes, keeps, read};

fn body(request: &Value) -> ControlBody {
    let line =
        json!({"type": "control_request", "request_id": "req_1_0badcafe", "request": request});
    match keeps::<Frame>(&line) {
        Frame::ControlRequest(request) => request.request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_of_the_host_are_read() {
    assert!(matches!(body(&json!({"subtype": "interrupt"})), ControlBody::Interrupt));
    assert!(matches!(body(&json!({"subtype": "mcp_status"})), ControlBody::McpStatus));
    assert!(matches!(body(&json!({"subtype": "get_context_usage"})), ControlBody::GetContextUsage));
    assert!(matches!(body(&json!({"subtype": "get_settings"})), ControlBody::GetSettings));
    assert!(matches!(body(&json!({"subtype": "end_session"})), ControlBody::EndSession));
    let mode = body(&json!({"subtype": "set_permission_mode", "mode": "plan"}));
    assert!(matches!(mode, ControlBody::SetPermissionMode { mode } if mode == "plan"));
    let model = body(&json!({"subtype": "set_model", "model": null}));
    assert!(matches!(model, ControlBody::SetModel { model: None }));
    let tokens = json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 1024});
    let expected = ControlBody::SetMaxThinkingTokens { max_thinking_tokens: Some(1024) };
    assert_eq!(body(&tokens), expected);
    let task = body(&json!({"subtype": "stop_task", "task_id": "b1"}));
    assert!(matches!(task, ControlBody::StopTask { task_id } if task_id.as_str() == "b1"));
    let rewind = json!({"subtype": "rewind_files", "user_message_id": "u", "dry_run": true});
    assert!(matches!(body(&rewind), ControlBody::RewindFiles { dry_run: true, .. }));
    let withdraw = json!({"subtype": "cancel_async_message", "message_uuid": "u"});
    assert!(matches!(body(&withdraw), ControlBody::CancelAsyncMessage { .. }));
}

#[test]
fn what_a_request_leaves_out_is_filled_in() {
    let table = [
        (json!({"subtype": "set_model"}), json!({"subtype": "set_model", "model": null})),
        (
            json!({"subtype": "rewind_files", "user_message_id": "u"}),
            json!({"subtype": "rewind_files", "user_message_id": "u", "dry_run": false}),
        ),
        (json!({"subtype": "interrupt", "cancel_queued": true}), json!({"subtype": "interrupt"})),
        (
            json!({"subtype": "get_context_usage", "detail": "full"}),
            json!({"subtype": "get_context_usage"}),
        ),
    ];
    for (line, expected) in table {
        becomes::<ControlBody>(&line, &expected);
    }
}

#[test]
fn the_handshake_is_read_as_both_clients_write_it() {
    // Python without hooks.
    let python = json!({"subtype": "initialize", "hooks": null});
    let ControlBody::Initialize(hello) = body(&python) else { panic!("{python}") };
    assert_eq!(hello.hooks, None);
    // Python with everything.
    let python = json!({"subtype": "initialize", "hooks": {"PreToolUse": [
            {"matcher": "Bash|Write", "hookCallbackIds": ["hook_0"], "timeout": 5.5,
                "onFailure": "block"},
            {"matcher": null, "hookCallbackIds": ["hook_1", "hook_2"], "timeout": null,
                "onFailure": null}]},
        "agents": {"explore": {"description": "Looks", "prompt": "Look.", "tools": ["Read"]}},
        "excludeDynamicSections": true, "systemPromptSnapshot": false, "skills": ["pdf"],
        "forwardSubagentText": true});
    let ControlBody::Initialize(hello) = body(&python) else { panic!("{python}") };
    let hooks = hello.hooks.unwrap();
    assert_eq!(hooks["PreToolUse"][0].on_failure.as_deref(), Some("block"));
    assert_eq!(hooks["PreToolUse"][1].hook_callback_ids, ["hook_1", "hook_2"]);
    assert_eq!(hello.skills.unwrap(), ["pdf"]);
    // TypeScript, with fields that nobody here acts on.
    let typescript = json!({"subtype": "initialize", "hooks": {}, "sdkMcpServers": ["notes"],
        "jsonSchema": {"type": "object"}, "systemPrompt": ["You are"], "appendSystemPrompt": "kind",
        "promptSuggestions": true, "title": "t", "toolAliases": {"a": "b"},
        "supportedDialogKinds": ["x"]});
    let ControlBody::Initialize(hello) = body(&typescript) else { panic!("{typescript}") };
    assert_eq!(hello.sdk_mcp_servers.unwrap(), ["notes"]);
    assert_eq!(hello.extra["toolAliases"], json!({"a": "b"}));
    let least = json!({"subtype": "initialize"});
    assert!(matches!(read(&least), ControlBody::Initialize(_)));
}

#[test]
fn questions_of_the_engine_are_read() {
    let question = json!({"subtype": "can_use_tool", "tool_name": "Bash", "display_name": "Bash",
        "input": {"command": "ls"}, "tool_use_id": "toolu_1", "description": "List files",
        "permission_suggestions": [{"type": "addRules", "rules": [{"toolName": "Bash",
            "ruleContent": "ls"}], "behavior": "allow", "destination": "localSettings"}],
        "blocked_path": "/etc", "decision_reason": "outside", "title": "Bash wants to run ls",
        "agent_id": "a1", "server_policy_ask_only": true});
    let ControlBody::CanUseTool(asked) = body(&question) else { panic!("{question}") };
    assert_eq!(asked.permission_suggestions.len(), 1);
    assert_eq!(asked.extra["server_policy_ask_only"], true);
    let least =
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t"});
    assert!(matches!(read(&least), ControlBody::CanUseTool(_)));

    let hook = json!({"subtype": "hook_callback", "callback_id": "hook_0", "tool_use_id": "toolu_1",
        "input": {"session_id": "s", "transcript_path": "/t", "cwd": "/", "tool_name": "Bash",
            "hook_event_name": "PreToolUse", "tool_input": {}, "tool_use_id": "toolu_1"}});
    let ControlBody::HookCallback { input, .. } = body(&hook) else { panic!("{hook}") };
    assert!(matches!(input.detail, HookDetail::PreToolUse { .. }));

    let message = json!({"subtype": "mcp_message", "server_name": "notes",
        "message": {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}});
    assert!(matches!(body(&message), ControlBody::McpMessage { .. }));
}

#[test]
fn other_requests_arrive_as_they_came() {
    let table = [
        json!({"subtype": "make_coffee", "sugar": 2}),
        json!({"subtype": "set_model", "model": 5}),
        json!({"subtype": "stop_task"}),
        json!({"no": "subtype"}),
        json!({}),
    ];
    for request in table {
        assert!(matches!(body(&request), ControlBody::Other(_)), "{request}");
    }
}

#[test]
fn answers_are_read_and_written() {
    let answer = |response: &Value| -> ControlResponse {
        let line = json!({"type": "control_response", "response": response});
        match keeps::<Frame>(&line) {
            Frame::ControlResponse(response) => *response,
            other => panic!("{other:?}"),
        }
    };
    let success = answer(&json!({"subtype": "success", "request_id": "r", "response": {"a": 1}}));
    assert_eq!(success.request_id().as_str(), "r");
    // Without a response, as to `mcp_toggle`.
    answer(&json!({"subtype": "success", "request_id": "r"}));
    let greeting = json!({"subtype": "success", "request_id": "r", "response": {},
        "pending_permission_requests": [], "pending_user_dialog_requests": []});
    let ControlAnswer::Success { pending_permission_requests, .. } = answer(&greeting).response
    else {
        panic!("{greeting}")
    };
    assert_eq!(pending_permission_requests, Some(Vec::new()));
    let error = answer(&json!({"subtype": "error", "request_id": "r", "error": "No such task",
        "error_code": "unsupported_request"}));
    assert!(matches!(error.response, ControlAnswer::Error { .. }));
    answer(&json!({"subtype": "error", "request_id": "r", "error": "Exception"}));
}
