//! A fork is a session of its own with the same conversation.

use serde_json::{Value, json};
use tillerman_protocol::EntryId;
use tillerman_protocol::transcript::Entry;
use tillerman_store::{ResumeAt, fork};

use crate::sample::{
    ID, assistant, call, entry, files, id, numbered_id, put, result, store, stored, text, user,
    uuids,
};

fn forked(entries: Vec<Entry>) -> Vec<Value> {
    let mut count = 0;
    let mut new_uuid = || {
        count += 1;
        EntryId::new(format!("n{count}"))
    };
    let entries = fork(entries, &numbered_id(7), &mut new_uuid);
    entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect()
}

#[test]
fn every_link_leads_to_the_new_entries() {
    let values = forked(vec![
        entry(json!({"type": "system", "uuid": "b", "parentUuid": null, "sessionId": ID,
            "logicalParentUuid": "gone", "subtype": "compact_boundary"})),
        user("q", Some("b"), "hi"),
        assistant("a", "q", "msg", &call("t")),
        result("r", "a", "t"),
        entry(json!({"type": "attachment", "uuid": "x", "parentUuid": "r", "sessionId": ID})),
        assistant("z", "x", "msg_2", &text("done")),
        entry(json!({"type": "custom-title", "customTitle": "old", "sessionId": ID})),
        entry(json!({"type": "tag", "tag": "old", "sessionId": ID})),
        entry(json!({"type": "cost-state", "totalCostUSD": 3.5})),
        entry(json!({"type": "last-prompt", "lastPrompt": "hi", "leafUuid": "z",
            "sessionId": ID})),
    ]);
    let links: Vec<_> =
        values.iter().map(|value| (value["uuid"].as_str(), value["parentUuid"].as_str())).collect();
    assert_eq!(
        links,
        [
            (Some("n1"), None),
            (Some("n2"), Some("n1")),
            (Some("n3"), Some("n2")),
            (Some("n4"), Some("n3")),
            (Some("n5"), Some("n4")),
            (Some("n6"), Some("n5")),
            (None, None),
        ]
    );
    assert!(values.iter().all(|value| value["sessionId"] == numbered_id(7).as_str()));
    assert_eq!(values[0].get("logicalParentUuid"), None);
    assert_eq!(values[3]["sourceToolAssistantUUID"], "n3");
    assert_eq!(values[6]["leafUuid"], "n6");
    for (value, old) in values.iter().zip(["b", "q", "a", "r", "x", "z"]) {
        assert_eq!(value["forkedFrom"], json!({"sessionId": ID, "messageUuid": old}));
    }
}

#[test]
fn a_fork_is_stored_beside_its_origin_even_when_a_line_was_lost() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    stored(
        &files,
        &[
            user("q", None, "hi"),
            assistant("a", "q", "msg", &text("LOST")),
            user("p", Some("a"), "more"),
            assistant("z", "p", "msg_2", &text("done")),
        ],
    );
    let damaged = std::fs::read_to_string(files.path(&id())).unwrap().replace("LOST", "LAST");
    put(&files, &id(), &damaged);
    let loaded = files.read(&id(), &ResumeAt::End).unwrap();
    let mut names = ["n1", "n2", "n3"].iter().map(|name| EntryId::new(*name));
    let entries = fork(loaded.entries, &numbered_id(7), &mut || names.next().unwrap());
    store(&mut files.create(&numbered_id(7)).unwrap(), &entries);
    let again = files.read(&numbered_id(7), &ResumeAt::End).unwrap();
    assert_eq!(uuids(&again), ["n1", "n2", "n3"]);
    assert_eq!(again.entries, entries);
    assert_eq!(again.repairs, tillerman_store::Repairs::default());
    assert_eq!(std::fs::read_to_string(files.path(&id())).unwrap(), damaged);
}
