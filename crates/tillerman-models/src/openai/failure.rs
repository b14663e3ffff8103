//! What refusals and errors of OpenAI-compatible servers mean.

use std::time::Duration;

use serde_json::Value;
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::http_failure::{ErrorReport, kind_of_status, read_body, retry_hints};
use crate::reply::Reply;

/// Reads an answer whose status is not a success and says what it means.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub(super) async fn read_refusal(reply: Reply, timeout: Duration) -> ModelFailure {
    let status = reply.status().as_u16();
    let (retry_after_ms, should_retry) = retry_hints(reply.headers());
    let body = read_body(reply, timeout).await;
    let report = ErrorReport::parse(&body);
    let kind = kind_of_code(&body, &report).unwrap_or_else(|| kind_of_status(status, &report));
    let message = match report.message {
        message if !message.is_empty() => message,
        _ if status == 404 => "the server knows no such address or model (status 404); check the \
                               base URL, which usually ends in /v1, and the model's name"
            .to_owned(),
        _ => format!("the server answered with status {status} and no explanation"),
    };
    ModelFailure { kind, status: Some(status), message, retry_after_ms, should_retry }
}

/// What an error document means that came without a telling status.
pub(super) fn reported(body: &[u8]) -> ModelFailure {
    let report = ErrorReport::parse(body);
    let by_number = || {
        let status = error_field(body, "code").and_then(|code| code.as_u64())?;
        let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status))?;
        Some(kind_of_status(status, &report))
    };
    let kind = kind_of_code(body, &report).or_else(by_number);
    let failure = report.into_failure();
    ModelFailure { kind: kind.unwrap_or(failure.kind), ..failure }
}

/// What the words of a provider mean where they say more than the status.
fn kind_of_code(body: &[u8], report: &ErrorReport) -> Option<FailureKind> {
    let code = error_field(body, "code");
    let code = code.as_ref().and_then(Value::as_str).unwrap_or_default();
    let message = report.message.to_lowercase();
    for word in [code, report.error_type.as_str()] {
        match word {
            "insufficient_quota" | "billing_hard_limit_reached" => {
                return Some(FailureKind::Billing);
            }
            "context_length_exceeded" | "exceed_context_size_error" => {
                return Some(FailureKind::TooLong);
            }
            "model_not_found" => return Some(FailureKind::ModelUnavailable),
            "invalid_api_key" => return Some(FailureKind::Authentication),
            "rate_limit_exceeded" => return Some(FailureKind::RateLimit),
            "overloaded" => return Some(FailureKind::Overloaded),
            _ => {}
        }
    }
    let too_long = ["maximum context length", "available context size", "exceeds the context"];
    too_long.iter().any(|phrase| message.contains(phrase)).then_some(FailureKind::TooLong)
}

fn error_field(body: &[u8], name: &str) -> Option<Value> {
    let document: Value = serde_json::from_slice(body).ok()?;
    document.get("error").unwrap_or(&document).get(name).cloned()
}

/// The failure of a server that does not answer with a stream.
pub(super) fn not_a_stream(body: &[u8]) -> ModelFailure {
    let report = ErrorReport::parse(body);
    let is_error =
        serde_json::from_slice::<Value>(body).is_ok_and(|value| value.get("error").is_some());
    if is_error && !report.message.is_empty() {
        return reported(body);
    }
    ModelFailure::new(
        FailureKind::Stream,
        "the server answered with a whole document instead of a stream of events; check that \
         the base URL belongs to an OpenAI-compatible server that can stream",
    )
}
