//! The transcripts of agents: beside their session, and open to whoever goes on with one.

use std::io::Write as _;

use serde_json::json;
use tillerman_ports::AgentFiles as _;
use tillerman_protocol::transcript::Entry;
use tillerman_store::{AgentDirectory, NoAgentFiles};

fn entry(uuid: &str) -> Entry {
    let line = json!({"type": "user", "uuid": uuid, "parentUuid": null, "isSidechain": true,
        "agentId": "a1", "message": {"role": "user", "content": uuid}});
    serde_json::from_value(line).unwrap()
}

#[test]
fn an_agent_is_kept_beside_its_session_and_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let session = root.path().join("6ba7b810-9dad-41d1-80b4-00c04fd430c8.jsonl");
    let files = AgentDirectory::beside(&session);
    let mut transcript = files.begin("a1", &json!({"agentType": "helper"}));
    transcript.append(&entry("one")).unwrap();
    let directory = session.with_extension("").join("subagents");
    assert_eq!(transcript.path(), directory.join("agent-a1.jsonl").display().to_string());
    let note = std::fs::read_to_string(directory.join("agent-a1.meta.json")).unwrap();
    assert_eq!(note, r#"{"agentType":"helper"}"#);
    let busy = files.reopen("a1").unwrap_err();
    assert_eq!(busy, "the agent a1 is at work already");
    drop(transcript);

    let mut torn =
        std::fs::File::options().append(true).open(directory.join("agent-a1.jsonl")).unwrap();
    torn.write_all(b"{\"type\":\"us").unwrap();
    drop(torn);
    let mut reopened = files.reopen("a1").unwrap();
    assert_eq!(reopened.entries, [entry("one")]);
    assert_eq!(reopened.note["agentType"], "helper");
    reopened.transcript.append(&entry("two")).unwrap();
    drop(reopened);
    assert_eq!(files.reopen("a1").unwrap().entries, [entry("one"), entry("two")]);
}

#[test]
fn what_is_no_agent_is_not_opened() {
    let root = tempfile::tempdir().unwrap();
    let session = root.path().join("6ba7b810-9dad-41d1-80b4-00c04fd430c8.jsonl");
    let files = AgentDirectory::beside(&session);
    assert_eq!(files.reopen("a2").unwrap_err(), "there is no agent a2 in this session");
    for name in ["", "../x", "a/b", "."] {
        assert!(files.reopen(name).unwrap_err().contains("is not the id of an agent"), "{name}");
    }
    assert!(NoAgentFiles.begin("a1", &json!({})).append(&entry("one")).is_ok());
    assert!(NoAgentFiles.reopen("a1").is_err());
}
