//! Replies that are not a response: error statuses and raw text.
//!
//! Faults in the middle of a response, such as a broken connection, are methods of
//! [`Response`].

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::response::{Response, response};

/// Answers with an error status and the error type that the API uses with it.
#[must_use]
pub fn status(status: u16) -> StatusFault {
    StatusFault {
        status,
        kind: kind_of(status).to_owned(),
        message: format!("scripted status {status}"),
        headers: Vec::new(),
        hold_before: None,
        moves_prefix: None,
    }
}

/// Answers with status 200, the content type of an event stream and this text as the whole body.
#[must_use]
pub fn raw_stream(text: impl Into<String>) -> Response {
    let mut raw = response();
    raw.raw_body = Some(text.into());
    raw
}

/// An error status with its headers and body.
#[derive(Clone, Debug)]
pub struct StatusFault {
    pub(crate) status: u16,
    kind: String,
    message: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) hold_before: Option<Gate>,
    pub(crate) moves_prefix: Option<String>,
}

impl StatusFault {
    /// Adds a `retry-after` header.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Adds `x-should-retry: true`.
    #[must_use]
    pub fn says_retry(self) -> Self {
        self.header("x-should-retry", "true")
    }

    /// Adds `x-should-retry: false`.
    #[must_use]
    pub fn says_do_not_retry(self) -> Self {
        self.header("x-should-retry", "false")
    }

    /// Adds any header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Replaces the error type in the body.
    #[must_use]
    pub fn error_type(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Replaces the message in the body.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Holds the reply before its first byte until the gate opens.
    #[must_use]
    pub fn hold_before(mut self, gate: &Gate) -> Self {
        self.hold_before = Some(gate.clone());
        self
    }

    /// Says that the request this answers does not continue the one before it, and why; the
    /// prefix check then leaves the pair out.
    #[must_use]
    pub fn moves_prefix(mut self, reason: impl Into<String>) -> Self {
        self.moves_prefix = Some(reason.into());
        self
    }

    /// The body in the shape of the API's errors.
    pub(crate) fn body(&self) -> Value {
        json!({ "type": "error", "error": { "type": self.kind, "message": self.message } })
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}
