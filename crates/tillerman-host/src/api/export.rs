//! A conversation as a file that stands on its own.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::conversations::{find, shown};
use crate::api::endpoint::Query;
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::display::visible;
use crate::store::NewEvent;
use crate::wire::{Conversation, Event};

/// Events that an export holds at most.
const MOST: usize = 100_000;

/// How the file is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ExportQuery {
    /// `json` (the default) or `markdown`.
    format: Option<String>,
}

pub(crate) async fn export(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let conversation = shown(find(&state, &id).await?.shown, &state.shared.settings);
    let wanted = id.clone();
    let events = state.shared.store.read(move |db| NewEvent::after(db, &wanted, 0, MOST)).await?;
    let (body, kind, ending) = match query.format.as_deref() {
        None | Some("json") => (as_json(&conversation, &events), "application/json", "json"),
        Some("markdown") => {
            (as_markdown(&conversation, &events), "text/markdown; charset=utf-8", "md")
        }
        Some(other) => {
            return Err(ApiError::bad(format!("format is json or markdown, not {other:?}.")));
        }
    };
    let name = format!("attachment; filename=\"conversation-{id}.{ending}\"");
    Ok(([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, name)], body).into_response())
}

fn as_json(conversation: &Conversation, events: &[NewEvent]) -> String {
    let events: Vec<Value> = events
        .iter()
        .map(|event| json!({"seq": event.seq, "at": event.at, "event": event.raw()}))
        .collect();
    let whole = json!({"conversation": conversation, "events": events});
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

fn as_markdown(conversation: &Conversation, events: &[NewEvent]) -> String {
    let mut text = format!("# {}\n", visible(&conversation.title));
    for event in events {
        match serde_json::from_str::<Event>(&event.body) {
            Ok(Event::User { text: said, by, .. }) => {
                add(&mut text, &format!("## {} ({})\n\n{said}", visible(&by), event.at));
            }
            Ok(Event::Frame { frame }) if frame["type"] == "assistant" => {
                add_answer(&mut text, &frame);
            }
            Ok(Event::Approval { approval }) if approval.answered_at.is_some() => {
                let who = approval.answered_by.as_deref().unwrap_or("nobody");
                let state = approval.state.as_str();
                let title = &approval.display.title;
                add(&mut text, &format!("> {title}: {state} ({})", visible(who)));
            }
            _ => {}
        }
    }
    text
}

fn add_answer(text: &mut String, frame: &Value) {
    for block in frame["message"]["content"].as_array().into_iter().flatten() {
        if let Some(said) = block["text"].as_str() {
            add(text, said);
        } else if block["type"] == "tool_use" {
            let input = serde_json::to_string_pretty(&block["input"]).unwrap_or_default();
            // A fence that is longer than any in the input cannot be closed by it.
            let longest = input.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let name = block["name"].as_str().unwrap_or_default();
            add(text, &format!("**{}**\n\n{fence}json\n{input}\n{fence}", visible(name)));
        }
    }
}

fn add(text: &mut String, part: &str) {
    text.push_str(&format!("\n{part}\n"));
}
