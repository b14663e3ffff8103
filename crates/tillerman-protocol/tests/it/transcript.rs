//! The lines of a session file.

use serde_json::{Value, json};
use tillerman_protocol::transcript::Entry;

use crate::wire::{keeps, read};

/// What every entry of the chain carries.
fn chained(kind: &str, details: &Value) -> Value {
    let mut line = json!({"type": kind, "uuid": "u", "parentUuid": "p", "isSidechain": false,
        "timestamp": "2026-01-02T03:04:05.678Z", "userType": "external", "entrypoint": "sdk-py",
        "cwd": "/p", "sessionId": "s", "version": "2.1.325", "gitBranch": "main"});
    for (key, value) in details.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

#[test]
fn entries_of_the_chain_are_kept_whole() {
    let usage = json!({"input_tokens": 1, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0, "output_tokens": 2});
    let table = [
        chained(
            "user",
            &json!({"message": {"role": "user", "content": "Hi"}, "promptId": "x",
            "permissionMode": "default", "promptSource": "sdk", "isMeta": true}),
        ),
        chained(
            "user",
            &json!({"message": {"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": "t", "content": "x"}]}, "toolUseResult": {"stdout": "x"},
            "sourceToolAssistantUUID": "a", "permissionDecision": {"decision": "allow"}}),
        ),
        chained(
            "user",
            &json!({"message": {"role": "user", "content": "So far"},
            "isCompactSummary": true, "logicalParentUuid": "q"}),
        ),
        chained(
            "assistant",
            &json!({"message": {"id": "msg_1", "type": "message",
                "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hi"}],
                "stop_reason": "end_turn", "stop_sequence": null, "usage": usage},
            "requestId": "req_1", "apiBlockIndex": 0}),
        ),
        chained("system", &json!({"subtype": "compact_boundary", "compactMetadata": {}})),
    ];
    for line in table {
        let entry: Entry = keeps(&line);
        assert_eq!(entry.link().unwrap().uuid.as_str(), "u", "{line}");
    }
}

#[test]
fn lines_beside_the_chain_are_kept_whole() {
    let table = [
        json!({"type": "last-prompt", "lastPrompt": "Hi", "leafUuid": "u", "sessionId": "s"}),
        json!({"type": "custom-title", "customTitle": "Fix", "sessionId": "s"}),
        json!({"type": "tag", "tag": "", "sessionId": "s"}),
        json!({"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.5, "totalAPIDuration": 900,
            "modelUsage": {}, "totalLinesAdded": 3}),
    ];
    for line in table {
        let entry: Entry = keeps(&line);
        assert!(!matches!(entry, Entry::Other(_)), "{line}");
        assert!(entry.link().is_none());
    }
}

#[test]
fn a_tag_starts_its_line() {
    // Listings look for the tag at the start of a line, without reading JSON.
    let entry: Entry = read(&json!({"sessionId": "s", "tag": "x", "type": "tag"}));
    assert!(serde_json::to_string(&entry).unwrap().starts_with(r#"{"type":"tag","#));
}

#[test]
fn entries_say_less_in_older_files() {
    let line = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Hi"}});
    let Entry::User(entry) = read(&line) else { panic!("{line}") };
    assert_eq!(entry.link.parent_uuid, None);
    let line = json!({"type": "assistant", "uuid": "u", "parentUuid": null, "timestamp": 5,
        "message": {"model": "m", "content": [], "usage": null}});
    assert!(matches!(read(&line), Entry::Assistant(_)));
}

#[test]
fn other_lines_arrive_as_they_came() {
    let table = [
        json!({"type": "summary", "summary": "Fix", "leafUuid": "u"}),
        json!({"type": "queue-operation", "operation": "enqueue", "content": "Hi"}),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        json!({"type": "content-replacement", "replacements": []}),
        chained("attachment", &json!({"attachment": {"type": "todo"}})),
        chained("progress", &json!({"data": {}})),
        json!({"type": "user", "uuid": "u"}),
        json!({"type": 7}),
        json!({}),
    ];
    for line in table {
        assert!(matches!(keeps(&line), Entry::Other(_)), "{line}");
    }
    assert!(serde_json::from_str::<Entry>("[1]").is_err(), "a line is an object");
}
