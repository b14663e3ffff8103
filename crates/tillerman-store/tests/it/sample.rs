//! Sessions to test with.

use std::path::Path;

use serde_json::{Value, json};
use tillerman_ports::Transcript as _;
use tillerman_protocol::SessionId;
use tillerman_protocol::transcript::Entry;
use tillerman_store::{FileTranscript, Loaded, SessionFiles};

pub(crate) const ID: &str = "5f0c2f0e-6d5f-4f0e-9a63-1f1f6d0a7b01";

pub(crate) fn id() -> SessionId {
    SessionId::new(ID)
}

/// A session id that ends in a number.
pub(crate) fn numbered_id(number: usize) -> SessionId {
    SessionId::new(format!("5f0c2f0e-6d5f-4f0e-9a63-{number:012}"))
}

pub(crate) fn entry(value: Value) -> Entry {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn user(uuid: &str, parent: Option<&str>, text: &str) -> Entry {
    entry(json!({
        "type": "user", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "timestamp": "2026-05-04T10:00:00.000Z", "sessionId": ID, "cwd": "/home/ann",
        "version": "2.1.0", "gitBranch": "main", "userType": "external", "entrypoint": "sdk",
        "message": {"role": "user", "content": text},
    }))
}

pub(crate) fn assistant(uuid: &str, parent: &str, response: &str, block: &Value) -> Entry {
    entry(json!({
        "type": "assistant", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "timestamp": "2026-05-04T10:00:01.000Z", "sessionId": ID, "cwd": "/home/ann",
        "message": {"id": response, "type": "message", "role": "assistant", "model": "m",
            "content": [block], "stop_reason": null, "stop_sequence": null},
    }))
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a"}})
}

pub(crate) fn result(uuid: &str, parent: &str, call: &str) -> Entry {
    entry(json!({
        "type": "user", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "timestamp": "2026-05-04T10:00:02.000Z", "sessionId": ID, "cwd": "/home/ann",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "content": "done"}]},
        "sourceToolAssistantUUID": parent,
    }))
}

/// A short linear conversation `e0`, `e1`, … of alternating speakers.
pub(crate) fn conversation(length: usize) -> Vec<Entry> {
    (0..length)
        .map(|number| {
            let uuid = format!("e{number}");
            let parent = number.checked_sub(1).map(|before| format!("e{before}"));
            match parent {
                Some(parent) if number % 2 == 1 => {
                    assistant(&uuid, &parent, &format!("msg_{number}"), &text("grüße"))
                }
                parent => user(&uuid, parent.as_deref(), "naïve"),
            }
        })
        .collect()
}

pub(crate) fn files(directory: &Path) -> SessionFiles {
    SessionFiles::new(directory.join("config"), directory)
}

pub(crate) fn store(transcript: &mut FileTranscript, entries: &[Entry]) {
    for entry in entries {
        transcript.append(entry).unwrap();
    }
}

/// Stores a session and closes it.
pub(crate) fn stored(files: &SessionFiles, entries: &[Entry]) {
    store(&mut files.create(&id()).unwrap(), entries);
}

/// Puts a session file in place as another program would.
pub(crate) fn put(files: &SessionFiles, id: &SessionId, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(files.project_dir()).unwrap();
    std::fs::write(files.path(id), bytes).unwrap();
}

pub(crate) fn uuids(loaded: &Loaded) -> Vec<&str> {
    loaded.entries.iter().filter_map(|entry| Some(entry.link()?.uuid.as_str())).collect()
}
