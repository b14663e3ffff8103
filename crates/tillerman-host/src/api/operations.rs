//! What operators look at: a sign of life, and numbers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::json;

use crate::api::routes::ApiState;
use crate::metrics::Kept;

/// Whether the host can do its work. It says no more than that, since anybody may ask.
pub(crate) async fn healthz(State(state): State<Arc<ApiState>>) -> Response {
    let is_leaving = state.leaving.is_cancelled();
    let answers =
        state.shared.store.read(|db| db.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)));
    let status = match answers.await {
        Ok(_) if !is_leaving => "ok",
        Ok(_) => "leaving",
        Err(_) => "no_database",
    };
    let code = if status == "ok" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({"status": status}))).into_response()
}

pub(crate) async fn metrics(State(state): State<Arc<ApiState>>) -> Response {
    let shared = &state.shared;
    let kept = shared.store.read(Kept::read).await;
    if let Err(error) = &kept {
        tracing::warn!(%error, "some numbers are left out");
    }
    let further = shared.settings.further_counters.as_ref();
    let text = shared.metrics.render(&shared.settings.version, kept.as_ref().ok(), further);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
