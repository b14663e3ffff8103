//! News about the session, by subtype.

use serde_json::{Value, json};
use tillerman_protocol::frame::{Frame, SystemDetail};
use tillerman_protocol::permission::PermissionMode;

use crate::wire::{keeps, read};

/// Adds what every such frame carries.
fn news(subtype: &str, details: &Value) -> Value {
    let mut line = json!({"type": "system", "subtype": subtype, "session_id": "s", "uuid": "u"});
    for (key, value) in details.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

fn detail(line: &Value) -> SystemDetail {
    match keeps::<Frame>(line) {
        Frame::System(frame) => frame.detail,
        other => panic!("{other:?}"),
    }
}

/// Every kind of news that has a type of its own.
fn known() -> Vec<(&'static str, Value)> {
    let hook = json!({"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"});
    let printed = json!({"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse",
        "output": "ab", "stdout": "a", "stderr": "b"});
    let mut answered = printed.clone();
    answered["exit_code"] = json!(2);
    answered["outcome"] = json!("error");
    let mut known = about_tasks();
    known.extend([
        ("status", json!({"status": "requesting"})),
        ("status", json!({"status": null, "permissionMode": "acceptEdits"})),
        ("session_state_changed", json!({"state": "requires_action", "sdk_host_only": true})),
        (
            "permission_denied",
            json!({"tool_name": "Bash", "tool_use_id": "t", "decision_reason_type": "mode",
                "decision_reason": "dontAsk", "message": "No."}),
        ),
        (
            "api_retry",
            json!({"attempt": 1, "max_retries": 10, "retry_delay_ms": 512, "error_status": 529,
                "error": "overloaded"}),
        ),
        (
            "compact_boundary",
            json!({"compact_metadata": {"trigger": "auto", "pre_tokens": 150_000,
                "post_tokens": 9_000}, "logical_parent_uuid": "p"}),
        ),
        ("notification", json!({"key": "k", "text": "Look here", "priority": "high"})),
        ("hook_started", hook),
        ("hook_progress", printed),
        ("hook_response", answered),
        ("thinking_tokens", json!({"estimated_tokens": 100, "estimated_tokens_delta": 20})),
        ("session_title_changed", json!({"title": "Fix the build", "source": "ai"})),
        (
            "mirror_error",
            json!({"error": "timeout", "key": {"projectKey": "-p", "sessionId": "s",
                "subpath": "subagents/agent-1"}}),
        ),
        (
            "files_persisted",
            json!({"files": [{"filename": "a", "file_id": "f1"}],
                "failed": [{"filename": "b", "error": "too large"}], "processed_at": "now"}),
        ),
        ("local_command_output", json!({"content": "Total cost: $0"})),
        ("elicitation_complete", json!({"mcp_server_name": "notes", "elicitation_id": "e1"})),
        ("commands_changed", json!({"commands": [{"name": "help", "description": "Help"}]})),
        (
            "informational",
            json!({"content": "Heads up", "level": "notice", "prevent_continuation": true}),
        ),
        ("memory_recall", json!({"mode": "select", "memories": [{"path": "/m", "scope": "team"}]})),
    ]);
    known
}

fn about_tasks() -> Vec<(&'static str, Value)> {
    vec![
        (
            "task_started",
            json!({"task_id": "b1", "description": "Run tests", "tool_use_id": "t",
                "task_type": "local_bash", "subagent_type": "explore", "is_backgrounded": true,
                "prompt": "Look", "run_id": "r", "spawn_depth": 1}),
        ),
        (
            "task_progress",
            json!({"task_id": "b1", "description": "Run tests", "last_tool_name": "Read",
                "usage": {"total_tokens": 5, "tool_uses": 1, "duration_ms": 20}, "summary": "x"}),
        ),
        (
            "task_updated",
            json!({"task_id": "b1", "patch": {"status": "killed", "end_time": 1_700_000_000_123_i64,
                "error": "why", "total_paused_ms": 3}}),
        ),
        (
            "task_notification",
            json!({"task_id": "b1", "status": "completed", "output_file": "/tmp/b1.output",
                "summary": "All passed", "tool_use_id": "t",
                "usage": {"total_tokens": 5, "tool_uses": 1, "duration_ms": 20}, "ambient": true}),
        ),
        (
            "background_tasks_changed",
            json!({"tasks": [{"task_id": "b1", "task_type": "local_bash", "description": "x"}]}),
        ),
    ]
}

#[test]
fn all_known_news_are_typed_and_kept_whole() {
    for (subtype, details) in known() {
        let line = news(subtype, &details);
        assert!(!matches!(detail(&line), SystemDetail::Other(_)), "{line}");
    }
}

#[test]
fn the_opening_of_a_round_is_read_as_the_official_cli_writes_it() {
    let line = news(
        "init",
        &json!({"cwd": "/p", "tools": ["Task", "Bash"], "model": "m", "permissionMode": "plan",
            "mcp_servers": [{"name": "notes", "status": "connected", "source": "user"}],
            "slash_commands": ["help"], "terminal_slash_commands": [], "apiKeySource": "none",
            "claude_code_version": "2.1.325", "output_style": "default", "agents": [], "skills": [],
            "plugins": [{"name": "x", "path": "/x"}], "capabilities": ["a"],
            "analytics_disabled": true, "memory_paths": {"auto": "/m"}, "original_cwd": "/p",
            "additional_directories": ["/q"], "fast_mode_state": "off", "view_mode": "default"}),
    );
    let Frame::System(frame) = read(&line) else { panic!("{line}") };
    let SystemDetail::Init(init) = frame.detail else { panic!("{line}") };
    assert_eq!(init.permission_mode, PermissionMode::Plan);
    assert_eq!(init.mcp_servers[0].status, "connected");
    assert_eq!(init.extra["memory_paths"], json!({"auto": "/m"}));
    // Older versions say less.
    let line = news("init", &json!({"cwd": "/p", "tools": [], "model": "m"}));
    let Frame::System(frame) = read(&line) else { panic!("{line}") };
    assert!(matches!(frame.detail, SystemDetail::Init(_)));
}

#[test]
fn news_say_more_in_later_versions() {
    for (subtype, mut details) in known() {
        details["from_the_future"] = json!({"a": [1]});
        let line = news(subtype, &details);
        let Frame::System(frame) = read(&line) else { panic!("{line}") };
        assert!(!matches!(frame.detail, SystemDetail::Other(_)), "{line}");
    }
}

#[test]
fn other_news_arrive_as_they_came() {
    let table = [
        news("from_the_future", &json!({"anything": {"a": 1}})),
        news("worker_shutting_down", &json!({"reason": "host_exit"})),
        news("status", &json!({"status": {"nested": true}})),
        news("init", &json!({"cwd": 5})),
        news("init", &json!({"cwd": "/p", "tools": [], "model": "m", "permissionMode": "new"})),
    ];
    for line in table {
        assert!(matches!(detail(&line), SystemDetail::Other(_)), "{line}");
    }
}

#[test]
fn a_mirror_error_is_read_with_either_spelling() {
    let key = json!({"project_key": "-p", "session_id": "s"});
    let line = news("mirror_error", &json!({"error": "timeout", "key": key}));
    let Frame::System(frame) = read(&line) else { panic!("{line}") };
    let SystemDetail::MirrorError { key, .. } = frame.detail else { panic!("{line}") };
    assert_eq!(key.unwrap().project_key, "-p");
}
