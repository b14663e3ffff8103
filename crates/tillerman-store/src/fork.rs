//! Giving a conversation a second life under another session id.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tillerman_protocol::transcript::{Entry, Link};
use tillerman_protocol::{EntryId, SessionId};

use crate::load::id_of;

/// Turns the loaded entries of one session into the first entries of a new one.
///
/// Every entry gets a new uuid, links between entries are kept, and `forkedFrom` says where each
/// came from. Titles, tags and costs belong to the old session and are left out.
pub fn fork(
    entries: Vec<Entry>,
    new_id: &SessionId,
    new_uuid: &mut dyn FnMut() -> EntryId,
) -> Vec<Entry> {
    let mut names = HashMap::new();
    for id in entries.iter().filter_map(id_of) {
        names.entry(id).or_insert_with(&mut *new_uuid);
    }
    let mut fork = Fork { session: new_id, names, last: None };
    entries.into_iter().filter_map(|entry| fork.rewrite(entry)).collect()
}

#[derive(Debug)]
struct Fork<'a> {
    session: &'a SessionId,
    names: HashMap<EntryId, EntryId>,
    /// The new uuid of the entry rewritten last.
    last: Option<EntryId>,
}

impl Fork<'_> {
    fn rewrite(&mut self, mut entry: Entry) -> Option<Entry> {
        match &mut entry {
            Entry::User(user) => {
                let source = user.source_tool_assistant_uuid.as_ref();
                user.source_tool_assistant_uuid = source.and_then(|id| self.names.get(id).cloned());
                self.relink(&mut user.link, &mut user.extra);
            }
            Entry::Assistant(assistant) => self.relink(&mut assistant.link, &mut assistant.extra),
            Entry::System(system) => self.relink(&mut system.link, &mut system.extra),
            Entry::LastPrompt { leaf_uuid, session_id, .. } => {
                *session_id = self.session.clone();
                *leaf_uuid = self.names.get(leaf_uuid)?.clone();
            }
            Entry::CustomTitle { .. } | Entry::Tag { .. } | Entry::CostState(_) => return None,
            Entry::Other(fields) => self.relink_fields(fields),
        }
        Some(entry)
    }

    fn relink(&mut self, link: &mut Link, extra: &mut Map<String, Value>) {
        extra.insert("forkedFrom".to_owned(), origin(link.session_id.as_str(), &link.uuid));
        link.session_id = self.session.clone();
        link.parent_uuid = link.parent_uuid.take().and_then(|parent| self.parent(&parent));
        let logical = link.logical_parent_uuid.take();
        link.logical_parent_uuid = logical.and_then(|parent| self.names.get(&parent).cloned());
        if let Some(new) = self.names.get(&link.uuid) {
            link.uuid = new.clone();
        }
        self.last = Some(link.uuid.clone());
    }

    /// Entries of kinds that only other programs write, such as attachments.
    fn relink_fields(&mut self, fields: &mut Map<String, Value>) {
        let text = |fields: &Map<String, Value>, name: &str| {
            fields.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let old_session = text(fields, "sessionId");
        if old_session.is_some() {
            fields.insert("sessionId".to_owned(), json!(self.session));
        }
        let Some(old) = text(fields, "uuid").map(EntryId::new) else { return };
        let session = old_session.unwrap_or_default();
        fields.insert("forkedFrom".to_owned(), origin(&session, &old));
        if let Some(parent) = text(fields, "parentUuid").map(EntryId::new) {
            fields.insert("parentUuid".to_owned(), json!(self.parent(&parent)));
        }
        for name in ["logicalParentUuid", "sourceToolAssistantUUID"] {
            if let Some(target) = text(fields, name).map(EntryId::new) {
                fields.insert(name.to_owned(), json!(self.names.get(&target)));
            }
        }
        let new = self.names.get(&old).cloned().unwrap_or(old);
        fields.insert("uuid".to_owned(), json!(new));
        self.last = Some(new);
    }

    /// A parent that was lost to damage gives way to the entry before, so that the new chain is
    /// whole.
    fn parent(&self, old: &EntryId) -> Option<EntryId> {
        self.names.get(old).or(self.last.as_ref()).cloned()
    }
}

fn origin(session: &str, entry: &EntryId) -> Value {
    json!({ "sessionId": session, "messageUuid": entry })
}
