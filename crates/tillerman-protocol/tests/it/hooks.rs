//! What hooks are told.

use serde_json::{Value, json};
use tillerman_protocol::hook::{HookDetail, HookEvent, HookInput};

use crate::wire::{keeps, read};

fn told(event: &str, details: &Value) -> Value {
    let mut line = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p",
        "permission_mode": "default", "hook_event_name": event});
    for (key, value) in details.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

type Told = (&'static str, Value, Option<&'static str>);

/// Every event with what its hooks are told and what a matcher looks at.
fn events() -> Vec<Told> {
    [about_calls(), about_sessions(), about_the_rest()].concat()
}

fn about_calls() -> Vec<Told> {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    let with = |more: Value| {
        let mut details = call.clone();
        details.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        details
    };
    let after = json!({"tool_response": {"stdout": ""}, "duration_ms": 12});
    let failed = json!({"error": "no", "is_interrupt": true, "duration_ms": 12});
    vec![
        ("PreToolUse", call.clone(), Some("Bash")),
        ("PostToolUse", with(after), Some("Bash")),
        ("PostToolUseFailure", with(failed), Some("Bash")),
        ("PermissionDenied", with(json!({"reason": "rule"})), Some("Bash")),
    ]
}

fn about_sessions() -> Vec<Told> {
    vec![
        ("PostToolBatch", json!({"tool_calls": [{"tool_name": "Bash"}]}), None),
        ("UserPromptSubmit", json!({"prompt": "Hi"}), None),
        ("SessionStart", json!({"source": "resume", "model": "m"}), Some("resume")),
        ("SessionEnd", json!({"reason": "other"}), Some("other")),
        (
            "Stop",
            json!({"stop_hook_active": true, "last_assistant_message": "Bye", "background_tasks":
                [{"id": "b1", "type": "local_bash", "status": "running", "description": "make"}],
                "session_crons": []}),
            None,
        ),
        (
            "StopFailure",
            json!({"error": "rate_limit", "error_details": "slow down",
                "last_assistant_message": ""}),
            Some("rate_limit"),
        ),
        (
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {}, "permission_suggestions": []}),
            Some("Bash"),
        ),
        (
            "Notification",
            json!({"message": "Hey", "title": "T", "notification_type": "idle_prompt"}),
            Some("idle_prompt"),
        ),
        ("SubagentStart", json!({"agent_id": "a1", "agent_type": "explore"}), Some("explore")),
        (
            "SubagentStop",
            json!({"agent_id": "a1", "agent_type": "explore", "stop_hook_active": false,
                "agent_transcript_path": "/a1.jsonl", "last_assistant_message": "Found it",
                "background_tasks": [], "session_crons": []}),
            Some("explore"),
        ),
        ("PreCompact", json!({"trigger": "manual", "custom_instructions": null}), Some("manual")),
        ("PostCompact", json!({"trigger": "auto", "compact_summary": "So far"}), Some("auto")),
        ("Setup", json!({"trigger": "init"}), Some("init")),
        (
            "UserPromptExpansion",
            json!({"expansion_type": "slash_command", "command_name": "review",
                "command_args": "now", "command_source": "project", "prompt": "Review now"}),
            Some("review"),
        ),
    ]
}

fn about_the_rest() -> Vec<Told> {
    let task = json!({"task_id": "1", "task_subject": "Fix", "task_description": "All of it",
        "teammate_name": "ann", "team_name": "red"});
    let switch = json!({"from_model": "a", "to_model": "b", "requested_model": "opus",
        "source": "command", "context_tokens": 9, "pricing": "catalog"});
    vec![
        ("TeammateIdle", json!({"teammate_name": "ann", "team_name": "red"}), None),
        ("TaskCreated", task.clone(), None),
        ("TaskCompleted", task, None),
        (
            "ConfigChange",
            json!({"source": "user_settings", "file_path": "/s.json"}),
            Some("user_settings"),
        ),
        ("FileChanged", json!({"file_path": "/d/a", "event": "unlink"}), Some("a")),
        ("CwdChanged", json!({"old_cwd": "/a", "new_cwd": "/b"}), None),
        ("DirectoryAdded", json!({"directory": "/d", "source": "slash_command"}), None),
        (
            "Elicitation",
            json!({"mcp_server_name": "notes", "message": "Which?", "mode": "form",
                "elicitation_id": "e", "requested_schema": {}}),
            Some("notes"),
        ),
        (
            "ElicitationResult",
            json!({"mcp_server_name": "notes", "action": "accept", "content": {"a": 1}}),
            Some("notes"),
        ),
        (
            "MessageDisplay",
            json!({"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "x"}),
            None,
        ),
        ("PreModelSwitch", switch.clone(), None),
        ("PostModelSwitch", switch, None),
        ("WorktreeCreate", json!({"name": "w"}), None),
        ("WorktreeRemove", json!({"worktree_path": "/w"}), None),
        (
            "InstructionsLoaded",
            json!({"file_path": "/CLAUDE.md", "memory_type": "Project",
                "load_reason": "session_start", "globs": ["*.rs"]}),
            Some("session_start"),
        ),
    ]
}

#[test]
fn every_event_is_typed_and_kept_whole() {
    for (event, details, subject) in events() {
        let line = told(event, &details);
        let input: HookInput = keeps(&line);
        let known = input.detail.event().unwrap_or_else(|| panic!("{line}"));
        assert_eq!(known.name(), event);
        assert_eq!(input.subject(), subject, "{event}");
        let has_call = details.get("tool_use_id").is_some();
        assert_eq!(input.detail.tool_use_id().is_some(), has_call, "{event}");
    }
    let names: Vec<HookEvent> = events().iter().map(|(event, ..)| read(&json!(event))).collect();
    assert_eq!(names.len(), 33, "an event is missing in this table");
}

#[test]
fn inputs_say_more_in_later_versions() {
    for (event, mut details, _) in events() {
        details["from_the_future"] = json!([1]);
        details["prompt_id"] = json!("p");
        details["effort"] = json!({"level": "high"});
        let input: HookInput = read(&told(event, &details));
        assert!(input.detail.event().is_some(), "{event}");
    }
}

#[test]
fn inputs_say_less_in_older_versions() {
    let table = [
        (
            "PostToolUse",
            json!({"tool_name": "B", "tool_input": {}, "tool_use_id": "t", "tool_response": 1}),
        ),
        (
            "PostToolUseFailure",
            json!({"tool_name": "B", "tool_input": {}, "tool_use_id": "t", "error": "e"}),
        ),
        ("Stop", json!({"stop_hook_active": false})),
        ("StopFailure", json!({"error": "unknown"})),
        ("SessionStart", json!({"source": "startup"})),
        ("PermissionRequest", json!({"tool_name": "B", "tool_input": {}})),
        ("Notification", json!({"message": "Hey"})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("SubagentStop", json!({"stop_hook_active": false, "agent_transcript_path": "/a"})),
    ];
    for (event, details) in table {
        let input: HookInput = read(&told(event, &details));
        assert!(input.detail.event().is_some(), "{event}");
    }
}

#[test]
fn other_events_arrive_as_they_came() {
    for line in [
        told("BeforeLunch", &json!({"menu": ["soup"]})),
        told("PreToolUse", &json!({"tool_name": 7})),
    ] {
        let input: HookInput = keeps(&line);
        assert!(matches!(input.detail, HookDetail::Other(_)), "{line}");
        assert_eq!(input.detail.event(), None);
        assert_eq!(input.subject(), None);
    }
    assert!(serde_json::from_value::<HookEvent>(json!("BeforeLunch")).is_err());
}
