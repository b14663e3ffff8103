//! What a session is about, from the ends of its transcript.

use serde_json::Value;
use tillerman_protocol::{Moment, SessionId};

use crate::sessions::chain::text;
use crate::sessions::store::{Ends, StoredSession, newest};

const LONGEST: usize = 200;
/// How messages begin that no person wrote.
const NOT_SAID: [&str; 7] = [
    "<command-name>",
    "<local-command-stdout>",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
    "[Request interrupted by user",
    "<task-notification>",
];

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// One line about it: its title, its last prompt or its first.
    pub summary: String,
    /// The title somebody gave it.
    pub title: Option<String>,
    /// The tag somebody gave it.
    pub tag: Option<String>,
    /// The first thing that was said.
    pub first_prompt: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// When it began.
    pub created: Option<Moment>,
    /// When it was added to last.
    pub modified: Moment,
}

/// Describes a session; nothing when it is a subagent's or holds no conversation.
pub(crate) fn describe(stored: &StoredSession, ends: &Ends) -> Option<SessionInfo> {
    let all = || ends.first.iter().chain(&ends.last);
    let is_side = ends.first.first().and_then(|entry| entry.get("isSidechain"));
    if is_side == Some(&Value::Bool(true)) {
        return None;
    }
    let last = |kind: &str, field: &str| {
        let found = all().rev().find(|entry| text(entry, "type") == Some(kind));
        found.and_then(|entry| text(entry, field)).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let title = last("custom-title", "customTitle").or_else(|| last("ai-title", "aiTitle"));
    let first_prompt = ends.first.iter().find_map(prompt).map(|prompt| shorten(&prompt));
    let last_prompt = last("last-prompt", "lastPrompt");
    let summary = title.clone().or(last_prompt).or_else(|| first_prompt.clone())?;
    let field = |name: &str| all().find_map(|entry| text(entry, name)).map(str::to_owned);
    let created = newest(&ends.first[..1.min(ends.first.len())])
        .or_else(|| ends.first.iter().find_map(|entry| newest(std::slice::from_ref(entry))));
    Some(SessionInfo {
        session_id: stored.session_id.clone(),
        summary: shorten(&summary),
        title,
        tag: last("tag", "tag"),
        first_prompt,
        cwd: field("cwd"),
        git_branch: field("gitBranch").filter(|branch| !branch.is_empty()),
        created,
        modified: stored.modified,
    })
}

/// The text of an entry that a person wrote.
fn prompt(entry: &Value) -> Option<String> {
    let is_true = |name: &str| entry.get(name).and_then(Value::as_bool).unwrap_or(false);
    if text(entry, "type") != Some("user") || is_true("isMeta") || is_true("isCompactSummary") {
        return None;
    }
    let content = entry.pointer("/message/content")?;
    let said = match content {
        Value::String(said) => said.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| text(block, "type") == Some("text"));
            texts.filter_map(|block| text(block, "text")).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let said = said.trim();
    let is_said = !said.is_empty() && !NOT_SAID.iter().any(|start| said.starts_with(start));
    is_said.then(|| said.to_owned())
}

fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
