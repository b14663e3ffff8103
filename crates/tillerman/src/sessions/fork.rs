//! A conversation again, under another name.

use std::collections::HashMap;

use serde_json::{Value, json};
use tillerman_protocol::SessionId;

use crate::sessions::chain::text;

/// Fields that belong to the session that was forked.
const LEFT_OUT: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// Copies the entries of a conversation into a session of another id, with ids of their own.
pub(crate) fn copy(conversation: &[&Value], session: &SessionId) -> Vec<Value> {
    let kept = || conversation.iter().filter(|entry| text(entry, "type") != Some("progress"));
    let names: HashMap<&str, String> = kept()
        .filter_map(|entry| text(entry, "uuid"))
        .map(|id| (id, crate::random::uuid()))
        .collect();
    let parents: HashMap<&str, Option<&str>> = conversation
        .iter()
        .filter_map(|entry| Some((text(entry, "uuid")?, text(entry, "parentUuid"))))
        .collect();
    // The nearest ancestor that is copied too.
    let parent = |entry: &Value| {
        let mut at = text(entry, "parentUuid");
        for _ in 0..=parents.len() {
            match at {
                Some(id) if names.contains_key(id) => return names.get(id),
                Some(id) => at = parents.get(id).copied().flatten(),
                None => return None,
            }
        }
        None
    };
    kept().map(|entry| relabel(entry, session, &names, parent(entry))).collect()
}

fn relabel(
    entry: &Value,
    session: &SessionId,
    names: &HashMap<&str, String>,
    parent: Option<&String>,
) -> Value {
    let mut copy = entry.clone();
    let Some(fields) = copy.as_object_mut() else { return copy };
    let old = text(entry, "uuid").unwrap_or_default();
    let from = json!({"sessionId": text(entry, "sessionId"), "messageUuid": old});
    fields.insert("forkedFrom".to_owned(), from);
    fields.insert("sessionId".to_owned(), json!(session));
    fields.insert("uuid".to_owned(), json!(names.get(old)));
    fields.insert("parentUuid".to_owned(), json!(parent));
    if let Some(logical) = text(entry, "logicalParentUuid") {
        fields.insert("logicalParentUuid".to_owned(), json!(names.get(logical)));
    }
    for name in LEFT_OUT {
        fields.remove(name);
    }
    copy
}
