//! What hooks answer.

use serde_json::{Value, json};
use tillerman_protocol::hook::{HookOutput, HookRegistration};

use crate::wire::{keeps, read};

#[test]
fn every_answer_is_kept_whole() {
    let table = [
        json!({}),
        json!({"continue": false, "stopReason": "enough", "suppressOutput": true,
            "decision": "block", "reason": "because", "systemMessage": "Note"}),
        json!({"async": true, "asyncTimeout": 30.0}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer",
            "permissionDecisionReason": "later", "updatedInput": {}, "additionalContext": "x"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "x",
            "updatedToolOutput": "y", "updatedMCPToolOutput": [1], "classifierContext": "z"}}),
        json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "sessionTitle": "t",
            "additionalContext": "x", "suppressOriginalPrompt": true}}),
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "initialUserMessage": "Hi",
            "watchPaths": ["/a"], "reloadSkills": true}}),
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "No", "interrupt": true}}}),
        json!({"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": true}}),
        json!({"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "decline"}}),
        json!({"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": "/w"}}),
        json!({"hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": "*"}}),
        json!({"terminalSequence": "\u{7}", "somethingNew": {"a": 1}}),
    ];
    for line in table {
        keeps::<HookOutput>(&line);
    }
}

#[test]
fn nulls_mean_no_opinion() {
    let line = json!({"continue": null, "decision": null, "reason": null, "systemMessage": null,
        "hookSpecificOutput": null, "async": null});
    assert_eq!(read::<HookOutput>(&line), HookOutput::default());
}

#[test]
fn answers_of_the_wrong_shape_are_errors() {
    for line in
        [json!("yes"), json!([]), json!({"continue": "no"}), json!({"hookSpecificOutput": 3})]
    {
        assert!(serde_json::from_value::<HookOutput>(line.clone()).is_err(), "{line}");
    }
}

#[test]
fn registrations_are_read() {
    let line = json!({"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 5.0,
        "onFailure": "continue"});
    keeps::<HookRegistration>(&line);
    let least: HookRegistration = read(&json!({"hookCallbackIds": ["hook_0"]}));
    assert_eq!((least.matcher, least.timeout, least.on_failure), (None, None, None));
    let whole: HookRegistration = read(&json!({"timeout": 5, "later": Value::Null}));
    assert_eq!(whole.timeout, Some(5.0));
}
