//! Messages over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;

use crate::api::endpoint::{Body, Caller};
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::live::Order;
use crate::wire::{Accepted, NewMessage};

pub(crate) async fn say(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
    Body(message): Body<NewMessage>,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let by = user.name;
    let accepted = state.directory.ask(&id, |reply| Order::Say { message, by, reply }).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

pub(crate) async fn take_back(
    State(state): State<Arc<ApiState>>,
    Path((id, message_id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    state.directory.ask(&id, |reply| Order::TakeBack { message_id, reply }).await?;
    Ok(StatusCode::NO_CONTENT)
}
