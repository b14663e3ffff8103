//! Conversations over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::endpoint::{Body, Caller, Query};
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::compose::check_mode;
use crate::live::{News, Order, new_id};
use crate::settings::HostSettings;
use crate::store::{Among, AuditNote, ConversationRow, Kind, ListQuery, search};
use crate::wire::{Conversation, ConversationPatch, ConversationState, NewConversation, Project};

const PAGE: usize = 50;
const LARGEST_PAGE: usize = 200;

/// Which conversations are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ListConversations {
    /// Words that must occur.
    search: Option<String>,
    /// Whether those that were put away are wanted instead of the others.
    archived: bool,
    /// Only those of one project.
    project_id: Option<String>,
    /// The cursor of an earlier answer.
    before: Option<String>,
    /// How many.
    limit: Option<usize>,
}

/// Some conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationList {
    conversations: Vec<Conversation>,
    /// Where the next page begins.
    next: Option<String>,
}

pub(crate) async fn list(
    State(state): State<Arc<ApiState>>,
    Query(query): Query<ListConversations>,
) -> Result<Json<ConversationList>, ApiError> {
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
    if let Some(words) = query.search.filter(|words| !words.trim().is_empty()) {
        let found = state.shared.store.read(move |db| {
            let mut found = Vec::new();
            for (id, snippet) in search(db, &words, Among::All, limit)? {
                if let Some(mut row) = ConversationRow::find(db, &id)? {
                    row.shown.snippet = Some(snippet);
                    found.push(row.shown);
                }
            }
            Ok(found)
        });
        let settings = &state.shared.settings;
        let conversations = found.await?.into_iter().map(|it| shown(it, settings)).collect();
        return Ok(Json(ConversationList { conversations, next: None }));
    }
    let before = query.before.as_deref().map(read_cursor).transpose()?;
    let wanted =
        ListQuery { archived: query.archived, project_id: query.project_id, before, limit };
    let rows = state.shared.store.read(move |db| ConversationRow::list(db, &wanted)).await?;
    let last = rows.last().filter(|_| rows.len() == limit);
    let next = last.map(|row| format!("{}.{}", row.shown.updated_at.as_millis(), row.shown.id));
    let settings = &state.shared.settings;
    let conversations = rows.into_iter().map(|row| shown(row.shown, settings)).collect();
    Ok(Json(ConversationList { conversations, next }))
}

fn read_cursor(text: &str) -> Result<(i64, String), ApiError> {
    let (at, id) = text.split_once('.').ok_or_else(|| ApiError::bad("The cursor is wrong."))?;
    let at = at.parse().map_err(|_| ApiError::bad("The cursor is wrong."))?;
    Ok((at, id.to_owned()))
}

/// A conversation as clients see it: with a model also where it names none.
pub(crate) fn shown(mut conversation: Conversation, settings: &HostSettings) -> Conversation {
    if conversation.model.is_empty() {
        conversation.model.clone_from(&settings.model);
    }
    conversation
}

pub(crate) async fn create(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Body(wanted): Body<NewConversation>,
) -> Result<(StatusCode, Json<Conversation>), ApiError> {
    let shared = &state.shared;
    let project: Option<Project> = match wanted.project_id.clone() {
        Some(id) => {
            let found = shared.store.read(move |db| Kind::Project.find(db, &id)).await?;
            Some(found.ok_or_else(|| ApiError::unknown("project"))?)
        }
        None => None,
    };
    let project = project.unwrap_or_default();
    let mode = wanted.permission_mode.or(project.permission_mode);
    let permission_mode = mode.unwrap_or_else(|| "default".to_owned());
    check_mode(&permission_mode).map_err(ApiError::bad)?;
    if permission_mode == "bypassPermissions" && !shared.settings.may_bypass {
        let text = "bypassPermissions is off for this host. Start it with --allow-bypass to let \
                    people choose it.";
        return Err(ApiError::forbidden(text));
    }
    let own = shared.settings.cwd.display().to_string();
    let cwd = wanted.cwd.or(Some(project.cwd).filter(|cwd| !cwd.is_empty())).unwrap_or(own);
    check_directory(&cwd)?;
    let now = shared.now();
    let id = new_id().ok_or_else(|| ApiError::bad("The system gives no randomness."))?;
    let title = wanted.title.unwrap_or_default().trim().to_owned();
    let row = ConversationRow {
        is_titled: !title.is_empty(),
        shown: Conversation {
            id,
            title,
            owner: user.name.clone(),
            project_id: wanted.project_id,
            cwd,
            model: wanted.model.or(project.model).unwrap_or_default(),
            permission_mode,
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
        },
        session_begun: false,
        session_cost: 0.0,
        last_seq: 0,
        outages: 0,
        drops_message: None,
    };
    let stored = row.clone();
    let note = audit(&state, &user.name, "conversation.create", &row.shown.id);
    shared
        .store
        .write(move |db| {
            note.insert(db)?;
            stored.insert(db)
        })
        .await?;
    let conversation = shown(row.shown, &shared.settings);
    shared.tell(News::conversation(&conversation));
    Ok((StatusCode::CREATED, Json(conversation)))
}

fn check_directory(cwd: &str) -> Result<(), ApiError> {
    let path = std::path::Path::new(cwd);
    if !path.is_absolute() {
        return Err(ApiError::bad("The working directory is an absolute path."));
    }
    if !path.is_dir() {
        return Err(ApiError::bad(format!("There is no directory {cwd}.")));
    }
    Ok(())
}

/// A line for the audit.
pub(crate) fn audit(state: &ApiState, user: &str, action: &str, subject: &str) -> AuditNote {
    AuditNote {
        at: state.shared.now(),
        user: user.to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        detail: String::new(),
    }
}

pub(crate) async fn find(state: &ApiState, id: &str) -> Result<ConversationRow, ApiError> {
    let id = id.to_owned();
    let row = state.shared.store.read(move |db| ConversationRow::find(db, &id)).await?;
    row.ok_or_else(|| ApiError::unknown("conversation"))
}

pub(crate) async fn show(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
) -> Result<Json<Conversation>, ApiError> {
    let row = find(&state, &id).await?;
    Ok(Json(shown(row.shown, &state.shared.settings)))
}

pub(crate) async fn change(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    Body(patch): Body<ConversationPatch>,
) -> Result<Json<Conversation>, ApiError> {
    let changed = state.directory.ask(&id, |reply| Order::Change { patch, reply }).await?;
    Ok(Json(changed))
}

pub(crate) async fn delete(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    state.directory.ask(&id, |reply| Order::Delete { reply }).await?;
    let note = audit(&state, &user.name, "conversation.delete", &id);
    state.shared.store.write(move |db| note.insert(db)).await?;
    Ok(StatusCode::NO_CONTENT)
}
