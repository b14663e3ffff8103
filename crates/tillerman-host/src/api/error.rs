//! Errors as clients see them: a status, a code, and a sentence for people.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::forms::FieldErrors;
use crate::live::{Refusal, RefusalKind};
use crate::store::StoreError;

/// Why a request was not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// What is wrong with single fields.
    pub(crate) fields: FieldErrors,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), fields: FieldErrors::new() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("There is no such {what}."))
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn unauthorized() -> Self {
        let text = "Sign in first: open the address with the token that the host printed when it \
                    started, or send it as a bearer token.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", text)
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> serde_json::Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.fields.is_empty() {
            error["fields"] = json!(self.fields);
        }
        json!({"error": error})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (status, code) = match refusal.kind {
            RefusalKind::Unknown => (StatusCode::NOT_FOUND, "not_found"),
            RefusalKind::Bad => (StatusCode::BAD_REQUEST, "bad_request"),
            RefusalKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            RefusalKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            RefusalKind::Spent => (StatusCode::PAYMENT_REQUIRED, "limit_reached"),
            RefusalKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            RefusalKind::Full => (StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
            RefusalKind::Failed => (StatusCode::BAD_GATEWAY, "session_failed"),
            RefusalKind::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "storage_failed"),
        };
        Self { fields: refusal.fields, ..Self::new(status, code, refusal.message) }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Refusal::from(error).into()
    }
}
