//! Conversations as a shell lists and loads them.

use serde_json::{Value, json};

use crate::ipc::words::as_written;
use crate::live::{Refusal, RefusalKind, Shared, new_id, said};
use crate::store::{ConversationRow, ListQuery, NewEvent};
use crate::wire::{Conversation, ConversationState, Event};

const MOST_LISTED: usize = 500;
/// Events that are read at once.
const PAGE: usize = 500;
/// Messages that are shown of a conversation, its newest.
const MOST_MESSAGES: usize = 2_000;
const UNTITLED: &str = "New Chat";

/// Begins a conversation.
pub(crate) async fn begin(shared: &Shared, permission_mode: &str) -> Result<Conversation, Refusal> {
    let no_ids = || Refusal::new(RefusalKind::Failed, "The system gives no randomness.");
    let now = shared.now();
    let shown = Conversation {
        id: new_id().ok_or_else(no_ids)?,
        title: String::new(),
        owner: shared.first_owner.clone(),
        project_id: None,
        cwd: shared.settings.cwd.display().to_string(),
        model: String::new(),
        permission_mode: permission_mode.to_owned(),
        created_at: now,
        updated_at: now,
        archived: false,
        session_id: None,
        state: ConversationState::Idle,
        pending_approvals: 0,
        queued: 0,
        cost_usd: 0.0,
        last_text: String::new(),
        snippet: None,
    };
    let row = ConversationRow {
        shown: shown.clone(),
        session_begun: false,
        session_cost: 0.0,
        last_seq: 0,
        outages: 0,
        is_titled: false,
        drops_message: None,
    };
    shared.store.write(move |db| row.insert(db)).await?;
    Ok(shown)
}

/// A conversation that must exist.
pub(crate) async fn find(shared: &Shared, id: &str) -> Result<Conversation, Refusal> {
    let wanted = id.to_owned();
    let row = shared.store.read(move |db| ConversationRow::find(db, &wanted)).await?;
    row.map(|row| row.shown).ok_or_else(|| {
        let text = format!("There is no conversation {id:?}. list_conversations shows all.");
        Refusal::new(RefusalKind::Unknown, text)
    })
}

/// All conversations, newest first.
pub(crate) async fn list(shared: &Shared) -> Result<Vec<Value>, Refusal> {
    let query = ListQuery { limit: MOST_LISTED, ..ListQuery::default() };
    let rows = shared.store.read(move |db| ConversationRow::list(db, &query)).await?;
    Ok(rows.iter().map(|row| show(&row.shown)).collect())
}

/// A conversation as shells see it.
pub(crate) fn show(conversation: &Conversation) -> Value {
    let title = as_written(&conversation.title);
    json!({
        "id": conversation.id,
        "title": if title.is_empty() { UNTITLED } else { title },
        "created_at": conversation.created_at.as_millis(),
        "updated_at": conversation.updated_at.as_millis(),
        "session_id": conversation.session_id,
        "state": conversation.state,
        "cost_usd": conversation.cost_usd,
    })
}

/// What was said in a conversation, oldest first.
pub(crate) async fn messages(shared: &Shared, id: &str) -> Result<Vec<Value>, Refusal> {
    let mut messages = Vec::new();
    let mut after = 0;
    loop {
        let wanted = id.to_owned();
        let page = shared.store.read(move |db| NewEvent::after(db, &wanted, after, PAGE)).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        messages.extend(page.iter().filter_map(message));
    }
    let surplus = messages.len().saturating_sub(MOST_MESSAGES);
    Ok(messages.split_off(surplus))
}

fn message(event: &NewEvent) -> Option<Value> {
    let (role, content) = match serde_json::from_str(&event.body).ok()? {
        Event::User { text, .. } => ("user", as_written(&text).to_owned()),
        Event::Frame { frame }
            if frame["type"] == "assistant" && frame["parent_tool_use_id"].is_null() =>
        {
            ("assistant", said(&frame))
        }
        _ => return None,
    };
    let message = json!({
        "id": event.seq,
        "role": role,
        "content": content,
        "timestamp": event.at.as_millis(),
    });
    (!content.is_empty()).then_some(message)
}
