//! What exit codes and the text beside them mean, event by event.

use serde_json::json;

use crate::bench::{Bench, answer, context, failure};

#[tokio::test]
async fn plain_text_reaches_the_model_at_three_events_only() {
    let bench = Bench::new();
    let table = [
        ("UserPromptSubmit", true),
        ("UserPromptExpansion", true),
        ("SessionStart", true),
        ("PreToolUse", false),
        ("PostToolUse", false),
        ("Stop", false),
        ("Notification", false),
        ("SessionEnd", false),
    ];
    for (event, reaches) in table {
        let report = bench.command("echo plain text", event).await;
        assert_eq!(context(&report), reaches.then_some("plain text"), "{event}");
        assert_eq!(report.exit_code, Some(0));
        assert_eq!(report.printed.stdout, "plain text\n");
    }
}

#[tokio::test]
async fn json_is_an_answer_whatever_the_exit_code() {
    let bench = Bench::new();
    for code in [0, 1, 3] {
        let command =
            format!("echo '{{\"decision\": \"block\", \"reason\": \"no\"}}'; exit {code}");
        let report = bench.command(&command, "Stop").await;
        assert_eq!(answer(&report).decision.as_deref(), Some("block"), "{code}");
        assert_eq!(answer(&report).reason.as_deref(), Some("no"));
    }
}

#[tokio::test]
async fn exit_code_2_refuses_where_something_can_be_refused() {
    let bench = Bench::new();
    let refuses = [
        "PreToolUse",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "ConfigChange",
        "PostToolBatch",
        "PreCompact",
        "Elicitation",
        "ElicitationResult",
        "WorktreeCreate",
        "PreModelSwitch",
        // The model is told.
        "PostToolUse",
        "PostToolUseFailure",
    ];
    for event in refuses {
        let report = bench.command("echo because >&2; exit 2", event).await;
        assert_eq!(answer(&report).decision.as_deref(), Some("block"), "{event}");
        assert_eq!(answer(&report).reason.as_deref(), Some("because"), "{event}");
        assert_eq!(report.exit_code, Some(2));
    }
    let elsewhere = [
        "PermissionRequest",
        "PermissionDenied",
        "Notification",
        "SessionStart",
        "SessionEnd",
        "StopFailure",
        "PostCompact",
        "Setup",
        "SubagentStart",
    ];
    for event in elsewhere {
        let report = bench.command("echo because >&2; exit 2", event).await;
        assert!(failure(&report).contains("because"), "{event}: {report:?}");
    }
}

#[tokio::test]
async fn exit_code_2_cannot_be_talked_away() {
    let bench = Bench::new();
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "allow", "updatedInput": {"command": "rm"}}});
    let report = bench.command(&format!("echo '{allow}'; echo no >&2; exit 2"), "PreToolUse").await;
    let output = answer(&report);
    assert_eq!((output.decision.as_deref(), output.reason.as_deref()), (Some("block"), Some("no")));
    let specific = output.hook_specific_output.as_ref().unwrap();
    assert_eq!((&specific.permission_decision, &specific.updated_input), (&None, &None));

    let table = [
        (json!({"decision": "block", "reason": "said so"}), "said so"),
        (
            json!({"hookSpecificOutput": {"permissionDecision": "deny",
                "permissionDecisionReason": "denied so"}}),
            "denied so",
        ),
        (json!({"decision": "approve", "reason": "fine"}), "stderr"),
        (json!({"systemMessage": "hey"}), "stderr"),
    ];
    for (said, reason) in table {
        let command = format!("echo '{said}'; echo stderr >&2; exit 2");
        let report = bench.command(&command, "PreToolUse").await;
        assert_eq!(answer(&report).reason.as_deref(), Some(reason), "{said}");
    }
}

#[tokio::test]
async fn other_codes_are_failures_without_an_opinion() {
    let bench = Bench::new();
    let report = bench.command("echo broken >&2; exit 7", "PreToolUse").await;
    assert_eq!(failure(&report), "it exited with code 7: broken");
    assert_eq!(report.exit_code, Some(7));
    let report = bench.command("kill -9 $$", "PreToolUse").await;
    assert!(failure(&report).contains("signal"), "{report:?}");
    assert_eq!(report.exit_code, None);
}

#[tokio::test]
async fn text_that_begins_like_json_and_is_none_is_told() {
    let bench = Bench::new();
    for said in ["{not json", "{\"continue\": \"no\"}", "{\"hookSpecificOutput\": 3}"] {
        let report = bench.command(&format!("echo '{said}'"), "PreToolUse").await;
        assert!(failure(&report).contains("begins like JSON"), "{said}: {report:?}");
    }
}

#[tokio::test]
async fn an_answer_to_another_event_is_left_out_and_told() {
    let bench = Bench::new();
    let said = json!({"systemMessage": "kept", "hookSpecificOutput":
        {"hookEventName": "PostToolUse", "additionalContext": "lost"}});
    let report = bench.command(&format!("echo '{said}'"), "PreToolUse").await;
    assert_eq!(context(&report), None);
    assert_eq!(answer(&report).system_message.as_deref(), Some("kept"));
    assert!(report.remark.unwrap().contains("PostToolUse"));
}

#[tokio::test]
async fn long_texts_go_to_a_file_and_their_beginning_to_the_model() {
    let bench = Bench::new();
    let report = bench.command("head -c 12000 /dev/zero | tr '\\0' x", "UserPromptSubmit").await;
    let text = context(&report).unwrap();
    assert!(text.starts_with("xxx") && text.len() < 3_000, "{text}");
    let path = text.split("the whole is in ").nth(1).unwrap().trim_end_matches(']');
    assert_eq!(std::fs::read_to_string(path).unwrap().len(), 12_000);
    assert!(report.remark.unwrap().contains("12000 characters"));
    let report = bench.command("head -c 10000 /dev/zero | tr '\\0' x", "UserPromptSubmit").await;
    assert_eq!(context(&report).unwrap().len(), 10_000);
}
