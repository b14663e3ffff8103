//! The door: every request passes here before anything of it is read.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::api::error::ApiError;
use crate::api::gate::{Proof, shows_something};
use crate::api::routes::ApiState;
use crate::metrics::Metrics;

const CONTENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'",
);
/// The socket's path.
const SOCKET: &str = "/api/v1/socket";
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Lets a request in or says why not, and puts the headers on that every answer has.
pub(crate) async fn guard(
    State(state): State<Arc<ApiState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    Metrics::count(&state.shared.metrics.requests);
    let is_api = request.uri().path().starts_with("/api/");
    let response = match admit(&state, peer.ip(), request).await {
        Ok(request) => next.run(request).await,
        Err(error) => {
            Metrics::count(&state.shared.metrics.refused);
            error.into_response()
        }
    };
    with_headers(response, is_api)
}

async fn admit(state: &ApiState, peer: IpAddr, mut request: Request) -> Result<Request, ApiError> {
    let headers = request.headers();
    check_host(state, headers)?;
    check_origin(state, headers)?;
    let path = request.uri().path();
    // Everything is behind the door but the page itself, which holds nothing, and a sign of life.
    if !path.starts_with("/api") && path != "/metrics" {
        return Ok(request);
    }
    if state.gate.is_barred(peer) {
        let text = "Too many wrong tokens came from this address. Wait a minute.";
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", text));
    }
    let is_upgrade = headers.contains_key(http::header::UPGRADE);
    let Some(visitor) = state.gate.recognise(headers).await? else {
        if shows_something(headers) {
            state.gate.note_failure(peer);
        }
        // A browser cannot see why an upgrade failed; the socket itself says that nobody is
        // signed in, and nothing else.
        if is_upgrade && path == SOCKET {
            return Ok(request);
        }
        return Err(ApiError::unauthorized());
    };
    let is_writing = !matches!(*request.method(), Method::GET | Method::HEAD);
    if visitor.by == Proof::Cookie && (is_writing || is_upgrade) && !is_same_origin(headers) {
        let text = "The request does not say that it comes from the host's own page.";
        return Err(ApiError::forbidden(text));
    }
    if is_writing && !is_json(headers) {
        let text = "Send application/json.";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(ApiError::new(status, "unsupported_media_type", text));
    }
    request.extensions_mut().insert(visitor);
    Ok(request)
}

/// A page that a foreign name leads to must not reach the host.
fn check_host(state: &ApiState, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
    if hosts.next().is_none() && state.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    let text = "The host does not go by this name. Open it under the address it printed, or allow \
                the name with --allow-host.";
    Err(ApiError::new(StatusCode::FORBIDDEN, "wrong_host", text))
}

fn check_origin(state: &ApiState, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut origins = headers.get_all(ORIGIN).iter().peekable();
    let is_ours = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| state.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)))
    };
    if origins.all(is_ours) {
        return Ok(());
    }
    let text = "The request comes from another page.";
    Err(ApiError::new(StatusCode::FORBIDDEN, "wrong_origin", text))
}

fn is_same_origin(headers: &HeaderMap) -> bool {
    // Foreign origins were refused before, so that one that is there is ours.
    headers.contains_key(ORIGIN)
        || headers.get(FETCH_SITE).is_some_and(|site| site == "same-origin")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn with_headers(mut response: Response, is_api: bool) -> Response {
    let headers = response.headers_mut();
    // Files of people come with a stricter one.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(CONTENT_POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    if is_api {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
