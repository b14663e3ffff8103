//! What people do with a run beside sending messages, over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use serde_json::{Value, json};

use crate::api::endpoint::{Body, Caller};
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::live::Order;
use crate::wire::{RewindAnswer, RewindRequest};

pub(crate) async fn interrupt(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let by = user.name;
    state.directory.ask(&id, |reply| Order::Interrupt { by, reply }).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn rewind(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
    Body(request): Body<RewindRequest>,
) -> Result<Json<RewindAnswer>, ApiError> {
    let by = user.name;
    let answer = state.directory.ask(&id, |reply| Order::Rewind { request, by, reply }).await;
    match answer {
        Ok(answer) => Ok(Json(read_answer(&answer))),
        Err(refusal) if refusal.kind == crate::live::RefusalKind::Failed => {
            let error = Some(refusal.message);
            Ok(Json(RewindAnswer { error, ..RewindAnswer::default() }))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn read_answer(answer: &Value) -> RewindAnswer {
    let number = |name: &str| answer[name].as_u64().unwrap_or_default();
    let files = answer["filesChanged"].as_array().into_iter().flatten();
    RewindAnswer {
        can_rewind: answer["canRewind"].as_bool().unwrap_or_default(),
        files: files.filter_map(Value::as_str).map(str::to_owned).collect(),
        insertions: number("insertions"),
        deletions: number("deletions"),
        error: answer["error"].as_str().map(str::to_owned),
    }
}

async fn ask(state: &ApiState, id: &str, body: Value) -> Result<Value, ApiError> {
    Ok(state.directory.ask(id, |reply| Order::Ask { body, reply }).await?)
}

pub(crate) async fn task_output(
    State(state): State<Arc<ApiState>>,
    Path((id, task_id)): Path<(String, String)>,
) -> Result<Json<Value>, ApiError> {
    let body = json!({"subtype": "get_task_output", "task_id": task_id});
    ask(&state, &id, body).await.map(Json)
}

pub(crate) async fn stop_task(
    State(state): State<Arc<ApiState>>,
    Path((id, task_id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let body = json!({"subtype": "stop_task", "task_id": task_id});
    ask(&state, &id, body).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn context(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    ask(&state, &id, json!({"subtype": "get_context_usage"})).await.map(Json)
}
