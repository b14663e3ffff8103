//! The web page: files that are part of the program, nothing from the disk.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, StatusCode};

use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::settings::Page;

/// Stands in for the page in a program that was built without it.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tillerman\
    </title><p>This program was built without its web page. The API is at /api/v1.</p></html>";

pub(crate) async fn page(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let path = request.uri().path().trim_start_matches('/');
    let assets = state.shared.settings.assets;
    // Addresses inside the page look like files that are not there; names of files do not.
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    match assets(path) {
        Some(page) => Ok(send(page, request.headers())),
        None if is_file => Err(ApiError::unknown("file")),
        None => Ok(index(&state, request.headers())),
    }
}

/// The page itself.
pub(crate) fn index(state: &ApiState, headers: &HeaderMap) -> Response {
    match (state.shared.settings.assets)("") {
        Some(page) => send(page, headers),
        None => ([(CONTENT_TYPE, "text/html; charset=utf-8")], NO_PAGE).into_response(),
    }
}

fn send(page: Page, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", page.etag);
    let is_known =
        headers.get(IF_NONE_MATCH).is_some_and(|held| held.as_bytes() == etag.as_bytes());
    // Parts carry a hash in their names; the page names them and is asked for each time.
    let forever = "public, max-age=31536000, immutable";
    let keep = if page.immutable { forever } else { "no-cache" };
    let head = [(ETAG, etag), (CACHE_CONTROL, keep.to_owned()), (CONTENT_TYPE, page.content_type)];
    if is_known {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, page.bytes).into_response()
}

pub(crate) async fn no_such_endpoint() -> ApiError {
    ApiError::unknown("endpoint")
}
