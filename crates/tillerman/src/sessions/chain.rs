//! Which entries of a transcript are the conversation.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Kinds of entries that hang together.
const LINKED: [&str; 5] = ["user", "assistant", "attachment", "system", "progress"];

pub(crate) fn text<'a>(entry: &'a Value, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str)
}

fn flag(entry: &Value, name: &str) -> bool {
    entry.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Whose transcript it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The session's own, in which subagents are guests.
    Session,
    /// A subagent's.
    Subagent,
}

/// The entries of the conversation that is told last, in order.
pub(crate) fn conversation(entries: &[Value], whose: Whose) -> Vec<&Value> {
    let linked: Vec<&Value> = entries.iter().filter(|entry| is_linked(entry)).collect();
    let by_id: HashMap<&str, &Value> =
        linked.iter().filter_map(|entry| Some((text(entry, "uuid")?, *entry))).collect();
    let is_leaf =
        |entry: &&&Value| is_said(entry) && is_own(entry, whose) && !flag(entry, "isMeta");
    let mut next = linked.iter().rev().find(is_leaf).and_then(|entry| text(entry, "uuid"));
    let mut chain = HashSet::new();
    while let Some(id) = next.filter(|id| chain.insert(*id)) {
        next = by_id.get(id).and_then(|entry| text(entry, "parentUuid"));
    }
    let responses: HashSet<&str> = linked
        .iter()
        .filter(|entry| text(entry, "uuid").is_some_and(|id| chain.contains(id)))
        .filter_map(|entry| response(entry))
        .collect();
    // Calls that ran side by side hang beside the chain: the blocks of a response, their results.
    let beside: Vec<&str> = linked
        .iter()
        .filter(|entry| response(entry).is_some_and(|id| responses.contains(id)))
        .filter_map(|entry| text(entry, "uuid"))
        .collect();
    chain.extend(beside);
    let is_result_of_chain = |entry: &Value| {
        is_result(entry) && text(entry, "parentUuid").is_some_and(|parent| chain.contains(parent))
    };
    linked
        .iter()
        .filter(|entry| {
            text(entry, "uuid").is_some_and(|id| chain.contains(id)) || is_result_of_chain(entry)
        })
        .copied()
        .collect()
}

/// Whether people are shown an entry.
pub(crate) fn is_visible(entry: &Value, whose: Whose) -> bool {
    is_said(entry) && is_own(entry, whose) && !flag(entry, "isMeta")
}

fn is_linked(entry: &Value) -> bool {
    let kind = text(entry, "type").unwrap_or_default();
    LINKED.contains(&kind) && text(entry, "uuid").is_some()
}

fn is_said(entry: &Value) -> bool {
    matches!(text(entry, "type"), Some("user" | "assistant"))
}

fn is_own(entry: &Value, whose: Whose) -> bool {
    whose == Whose::Subagent || (!flag(entry, "isSidechain") && entry.get("teamName").is_none())
}

fn response(entry: &Value) -> Option<&str> {
    let is_assistant = text(entry, "type") == Some("assistant");
    let id = entry.pointer("/message/id").and_then(Value::as_str);
    id.filter(|id| is_assistant && !id.is_empty())
}

fn is_result(entry: &Value) -> bool {
    let kind = entry.pointer("/message/content/0/type").and_then(Value::as_str);
    text(entry, "type") == Some("user") && kind == Some("tool_result")
}
