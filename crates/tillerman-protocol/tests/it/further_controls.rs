//! Control requests that few hosts send.

use serde_json::{Value, json};
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::mcp::McpServerConfig;

use crate::wire::{keeps, read};

/// Every request that has a type in a group.
fn requests() -> Vec<Value> {
    vec![
        json!({"subtype": "mcp_reconnect", "serverName": "notes"}),
        json!({"subtype": "mcp_toggle", "serverName": "notes", "enabled": false}),
        json!({"subtype": "mcp_set_servers", "servers": {"notes": {"command": "notes"},
            "here": {"type": "sdk", "name": "here"}}}),
        json!({"subtype": "mcp_call", "tool": "mcp__notes__add", "arguments": {"text": "x"},
            "timeout_ms": 5}),
        json!({"subtype": "mcp_read_resource", "serverName": "notes", "uri": "note://1"}),
        json!({"subtype": "apply_flag_settings", "settings": {"model": null}}),
        json!({"subtype": "update_settings", "source": "localSettings", "settings": {"model": "m"}}),
        json!({"subtype": "reload_plugins"}),
        json!({"subtype": "reload_skills"}),
        json!({"subtype": "reload_output_styles"}),
        json!({"subtype": "register_repo_root", "directory": "/r", "reload_skills": true}),
        json!({"subtype": "list_permission_rules"}),
        json!({"subtype": "list_models"}),
        json!({"subtype": "get_hooks_listing"}),
        json!({"subtype": "seed_read_state", "path": "/a", "mtime": 1_700_000_000_123.5}),
        json!({"subtype": "generate_session_title", "description": "Fix it", "persist": true}),
        json!({"subtype": "rename_session", "title": "Fix", "session_id": "s", "source": "host"}),
        json!({"subtype": "set_color", "color": "green"}),
        json!({"subtype": "get_usage"}),
        json!({"subtype": "get_session_cost"}),
        json!({"subtype": "get_binary_version"}),
        json!({"subtype": "get_task_output", "task_id": "b1"}),
        json!({"subtype": "background_tasks", "tool_use_id": "toolu_1"}),
        json!({"subtype": "read_file", "path": "/a", "max_bytes": 10, "encoding": "base64"}),
        json!({"subtype": "file_suggestions", "query": "mai"}),
        json!({"subtype": "elicitation", "mcp_server_name": "notes", "message": "Which?",
            "mode": "form", "url": "https://x", "elicitation_id": "e",
            "requested_schema": {"type": "object"}, "title": "Notes"}),
        json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {"a": 1},
            "tool_use_id": "toolu_1"}),
    ]
}

#[test]
fn they_are_typed_and_kept_whole() {
    for line in requests() {
        let body: ControlBody = keeps(&line);
        assert!(!matches!(body, ControlBody::Other(_)), "{line}");
        let name = line["subtype"].as_str().unwrap();
        assert_eq!(body.subtype(), name);
        assert!(ControlBody::knows(name), "{name}");
    }
}

#[test]
fn known_names_are_known_and_others_are_not() {
    for name in ["initialize", "interrupt", "can_use_tool", "hook_callback", "mcp_message"] {
        assert!(ControlBody::knows(name), "{name}");
    }
    assert!(!ControlBody::knows("make_coffee"));
    assert!(!ControlBody::knows(""));
    assert_eq!(read::<ControlBody>(&json!({"subtype": "make_coffee"})).subtype(), "make_coffee");
    assert_eq!(read::<ControlBody>(&json!({"subtype": null})).subtype(), "");
}

#[test]
fn one_with_wrong_fields_is_not_mistaken_for_another() {
    let table = [
        json!({"subtype": "mcp_toggle", "serverName": "notes"}),
        json!({"subtype": "seed_read_state", "path": "/a", "mtime": "today"}),
        json!({"subtype": "rename_session"}),
        json!({"subtype": "elicitation"}),
    ];
    for line in table {
        assert!(matches!(keeps(&line), ControlBody::Other(_)), "{line}");
    }
}

#[test]
fn a_server_that_nobody_understands_does_not_spoil_the_others() {
    let line =
        json!({"subtype": "mcp_set_servers", "servers": {"a": {"command": "a"}, "b": {"c": 1}}});
    let body: ControlBody = keeps(&line);
    let ControlBody::Mcp(tillerman_protocol::control::McpRequest::McpSetServers { servers }) = body
    else {
        panic!("{line}")
    };
    assert!(matches!(servers["a"], McpServerConfig::Bare(_)));
    assert!(matches!(servers["b"], McpServerConfig::Other(_)));
}
