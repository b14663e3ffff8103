//! What failed HTTP requests mean: refusals by status and body, and connections that never were.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::reply::Reply;

/// The most characters of a provider's message that are passed on.
pub const MAX_MESSAGE_CHARS: usize = 2_000;
/// The most bytes of a refusal's body that are read.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// What an error document of a provider says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorReport {
    /// The provider's type of error, such as `overloaded_error`; empty when it gave none.
    pub error_type: String,
    /// The provider's explanation, ready to be shown; empty when it gave none.
    pub message: String,
}

impl ErrorReport {
    /// Reads the error documents that providers and gateways send; plain text is a message.
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let Ok(document) = serde_json::from_str::<Value>(&text) else {
            // Markup is a page for browsers, not an explanation.
            let message = if text.trim_start().starts_with('<') { "" } else { text.trim() };
            return Self { error_type: String::new(), message: presentable(message) };
        };
        let error = document.get("error").unwrap_or(&document);
        let texts =
            [error.get("message"), Some(error), document.get("message"), document.get("detail")];
        let message = texts.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
        let error_type = error.get("type").and_then(Value::as_str).unwrap_or_default();
        Self { error_type: error_type.to_owned(), message: presentable(message) }
    }

    /// The failure this means when no status says more, as in the middle of a stream.
    #[must_use]
    pub fn into_failure(self) -> ModelFailure {
        let kind = match self.error_type.as_str() {
            "overloaded_error" => FailureKind::Overloaded,
            "rate_limit_error" => FailureKind::RateLimit,
            "authentication_error" | "permission_error" => FailureKind::Authentication,
            "billing_error" => FailureKind::Billing,
            "not_found_error" => FailureKind::ModelUnavailable,
            "invalid_request_error" | "request_too_large" => refused_request(&self.message),
            _ => FailureKind::Server,
        };
        let message = match (self.message.is_empty(), self.error_type.is_empty()) {
            (false, _) => self.message,
            (true, false) => format!("the provider reported {}", presentable(&self.error_type)),
            (true, true) => "the provider reported an error without an explanation".to_owned(),
        };
        ModelFailure::new(kind, message)
    }
}

/// Reads an answer whose status is not a success and says what it means.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn read_refusal(reply: Reply, timeout: Duration) -> ModelFailure {
    let status = reply.status().as_u16();
    let (retry_after_ms, should_retry) = retry_hints(reply.headers());
    let report = ErrorReport::parse(&read_body(reply, timeout).await);
    let kind = kind_of_status(status, &report);
    let message = match report.message {
        message if !message.is_empty() => message,
        _ if (300..400).contains(&status) => format!(
            "the server redirects requests (status {status}), and redirects are not followed so \
             that credentials stay where they belong; set the base URL to the final address"
        ),
        _ => format!("the server answered with status {status} and no explanation"),
    };
    ModelFailure { kind, status: Some(status), message, retry_after_ms, should_retry }
}

/// Reads at most the first 64 KiB of a body, and what came before it stalled or broke.
pub(crate) async fn read_body(mut reply: Reply, timeout: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = reply.chunk().await {
            let room = MAX_BODY_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == MAX_BODY_BYTES {
                break;
            }
        }
    };
    // A body that stalls still leaves the status, which is what matters.
    let _complete = tokio::time::timeout(timeout, reading).await.is_ok();
    body
}

/// What a status means, with the body where the status is not the whole story.
#[must_use]
pub fn kind_of_status(status: u16, report: &ErrorReport) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Authentication,
        402 => FailureKind::Billing,
        404 => FailureKind::ModelUnavailable,
        // A conflict is one of the provider's locks, not a fault of the request.
        408 | 409 => FailureKind::Server,
        429 => FailureKind::RateLimit,
        529 => FailureKind::Overloaded,
        500.. if report.error_type == "overloaded_error" => FailureKind::Overloaded,
        500.. => FailureKind::Server,
        _ => refused_request(&report.message),
    }
}

fn refused_request(message: &str) -> FailureKind {
    const TOO_LONG: [&str; 6] = [
        "prompt is too long",
        "prompt too long",
        "input is too long",
        "exceed context limit",
        "context window",
        "context length",
    ];
    let message = message.to_lowercase();
    if TOO_LONG.iter().any(|phrase| message.contains(phrase)) {
        FailureKind::TooLong
    } else if message.contains("credit balance is too low") {
        FailureKind::Billing
    } else {
        FailureKind::InvalidRequest
    }
}

/// What the headers say about trying again: how long to wait, and whether at all.
#[must_use]
pub fn retry_hints(headers: &HeaderMap) -> (Option<u64>, Option<bool>) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let wait = text("retry-after-ms")
        .and_then(|millis| to_millis(millis, 1.0))
        .or_else(|| text("retry-after").and_then(|seconds| to_millis(seconds, 1_000.0)))
        .or_else(|| {
            // A date is measured against the server's own clock, which need not agree with ours.
            let until = parse_http_date(text("retry-after")?)?;
            let now = parse_http_date(text("date")?)?;
            Some(u64::try_from(until.saturating_sub(now)).unwrap_or(0))
        });
    let should_retry = match text("x-should-retry") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    (wait, should_retry)
}

fn to_millis(number: &str, factor: f64) -> Option<u64> {
    let seconds = number.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)?;
    Duration::try_from_secs_f64(seconds * factor / 1_000.0)
        .ok()
        .and_then(|wait| u64::try_from(wait.as_millis()).ok())
}

fn parse_http_date(text: &str) -> Option<i64> {
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// What it means that a request could not be sent or its answer's head not received.
#[must_use]
pub fn connection_failure(error: reqwest::Error, host: &str) -> ModelFailure {
    let connecting = error.is_connect();
    // The URL may hold a password.
    let cause = Cause::of(&error.without_url());
    let text = presentable(&cause.innermost);
    if cause.in_tls {
        return ModelFailure::new(
            FailureKind::Tls,
            format!(
                "no secure connection to {host}: {text}; nothing was sent, check the base URL and \
                 the machine's trusted certificates"
            ),
        );
    }
    let what = if connecting { "cannot connect to" } else { "no answer from" };
    ModelFailure::new(
        FailureKind::Connection,
        format!("{what} {host}: {text}; check the network, the proxy and the base URL"),
    )
}

/// What the causes of an error come down to.
struct Cause {
    innermost: String,
    in_tls: bool,
}

impl Cause {
    fn of(error: &(dyn StdError + 'static)) -> Self {
        // An I/O error leaves the error inside it out of the chain of sources.
        let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let source = match inside {
            Some(inside) => Some(inside as &(dyn StdError + 'static)),
            None => error.source(),
        };
        let in_tls = error.is::<rustls::Error>();
        match source {
            Some(source) => {
                let deeper = Self::of(source);
                Self { in_tls: in_tls || deeper.in_tls, ..deeper }
            }
            None => Self { innermost: error.to_string(), in_tls },
        }
    }
}

/// A text from outside made fit to be shown: bounded, and without control characters.
#[must_use]
pub fn presentable(text: &str) -> String {
    let clean = |character: char| match character {
        '\n' => '\n',
        control if control.is_control() => ' ',
        other => other,
    };
    let mut shown: String = text.chars().take(MAX_MESSAGE_CHARS).map(clean).collect();
    if text.chars().nth(MAX_MESSAGE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
