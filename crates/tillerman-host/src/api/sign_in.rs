//! Signing in with the token in the address, once; a cookie takes its place.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{LOCATION, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use crate::api::endpoint::Query;
use crate::api::error::ApiError;
use crate::api::gate::COOKIE_NAME;
use crate::api::page::index;
use crate::api::routes::ApiState;

const COOKIE_SECONDS: u32 = 90 * 24 * 3_600;

/// What the front page may be asked with.
#[derive(Debug, Deserialize)]
pub(crate) struct SignIn {
    token: Option<String>,
}

/// The front page. An address with a token signs in and leads to one without.
pub(crate) async fn front_page(
    State(state): State<Arc<ApiState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Query(query): Query<SignIn>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(token) = query.token else { return Ok(index(&state, &headers)) };
    if state.gate.is_barred(peer.ip()) {
        let text = "Too many wrong tokens came from this address. Wait a minute.";
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", text));
    }
    let Some(user) = state.gate.of_token(&token).await? else {
        state.gate.note_failure(peer.ip());
        let text = "This token is not known here. `tillerman serve --new-token` makes a new one.";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", text));
    };
    let cookie = state.gate.sign_in(&user).await?;
    let cookie = cookie.ok_or_else(|| ApiError::bad("The system gives no randomness."))?;
    let cookie = format!(
        "{COOKIE_NAME}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}",
        cookie.reveal()
    );
    let head = [(SET_COOKIE, cookie), (LOCATION, "/".to_owned())];
    Ok((StatusCode::SEE_OTHER, head).into_response())
}
