//! One line in the log for each request, without anything that names or opens something.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue, Method};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::api::routes::ApiState;
use crate::live::new_id;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Says what was asked, how it was answered and how long that took.
pub(crate) async fn access_log(
    State(state): State<Arc<ApiState>>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let method = known(request.method());
    // The template, since paths hold ids and questions hold tokens.
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let id = new_id().unwrap_or_default();
    // Whatever is said meanwhile is said about this request.
    let span = tracing::error_span!("request", request = id);
    let mut response = next.run(request).instrument(span.clone()).await;
    let taken = started.elapsed();
    let status = response.status().as_u16();
    state.shared.metrics.answered_in(status, taken);
    let route = matched.as_ref().map_or("(page)", MatchedPath::as_str);
    let duration_ms = (taken.as_secs_f64() * 1e6).round() / 1e3;
    span.in_scope(|| {
        if route.starts_with("/api/") {
            tracing::info!(method, route, status, duration_ms, "request");
        } else {
            tracing::debug!(method, route, status, duration_ms, "request");
        }
    });
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Methods are whatever clients send; only known ones are repeated.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}
