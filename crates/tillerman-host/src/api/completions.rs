//! What can be typed: commands, agents, files.

use std::collections::VecDeque;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::conversations::find;
use crate::api::endpoint::Query;
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::live::Order;

const MOST: usize = 50;
/// Names that are looked at before the search gives up.
const MOST_LOOKED_AT: usize = 20_000;
/// Folders that nobody mentions files of.
const SKIPPED: [&str; 5] = ["node_modules", "target", "__pycache__", "dist", "build"];

/// What was typed.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CompletionQuery {
    /// `command`, `agent` or `file`.
    kind: CompletionKind,
    /// What was typed so far.
    #[serde(default)]
    query: String,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CompletionKind {
    Command,
    Agent,
    File,
}

/// What fits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Completions {
    items: Vec<Completion>,
}

/// One thing that fits.
#[derive(Debug, Serialize, JsonSchema)]
struct Completion {
    value: String,
    description: String,
}

pub(crate) async fn completions(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    Query(query): Query<CompletionQuery>,
) -> Result<Json<Completions>, ApiError> {
    let typed = query.query.trim_start_matches(['/', '@']).to_lowercase();
    let items = match query.kind {
        CompletionKind::File => {
            let root = PathBuf::from(find(&state, &id).await?.shown.cwd);
            let looking = tokio::task::spawn_blocking(move || files(&root, &typed));
            looking.await.unwrap_or_default()
        }
        CompletionKind::Command => named(&state, &id, "commands", &typed).await?,
        CompletionKind::Agent => named(&state, &id, "agents", &typed).await?,
    };
    Ok(Json(Completions { items }))
}

/// Things by name that a session says it has.
async fn named(
    state: &ApiState,
    id: &str,
    list: &str,
    typed: &str,
) -> Result<Vec<Completion>, ApiError> {
    let greeting = state.directory.ask(id, |reply| Order::Greet { reply }).await?;
    let all = greeting[list].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut items: Vec<Completion> = all
        .iter()
        .map(|it| Completion { value: text(it, "name"), description: text(it, "description") })
        .filter(|it| it.value.to_lowercase().contains(typed))
        .collect();
    items.sort_by_key(|it| (!it.value.to_lowercase().starts_with(typed), it.value.clone()));
    items.truncate(MOST);
    Ok(items)
}

/// Files below a folder whose path holds what was typed; those closest to the folder first. Links
/// are not followed.
fn files(root: &FilePath, typed: &str) -> Vec<Completion> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT || found.len() == MOST {
                return found;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') || (kind.is_dir() && SKIPPED.contains(&name.as_str())) {
                continue;
            }
            let path = entry.path();
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if shown.to_lowercase().contains(typed) {
                let description = if kind.is_dir() { "folder" } else { "" };
                let value = if kind.is_dir() { format!("{shown}/") } else { shown };
                found.push(Completion { value, description: description.to_owned() });
            }
            if kind.is_dir() {
                folders.push_back(path);
            }
        }
    }
    found
}
