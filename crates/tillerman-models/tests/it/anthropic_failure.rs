//! Refusals and broken connections become failures that say what kind they are.

use std::time::Duration;

use tillerman_models::anthropic::{Anthropic, AnthropicConfig, Credential};
use tillerman_models::secret::Secret;
use tillerman_ports::Model as _;
use tillerman_protocol::model::{FailureKind, ModelFailure};
use tokio::sync::oneshot;

use crate::asking::{KEY, config, events, only_failure, request};
use crate::loopback::{Loopback, Step, answer};

async fn failure(config: AnthropicConfig) -> ModelFailure {
    only_failure(&events(config).await).clone()
}

async fn refused(status: u16, headers: &[(&str, &str)], body: &str) -> ModelFailure {
    let server = Loopback::answering(answer(status, headers, body)).await;
    failure(config(&server.base_url)).await
}

fn error_body(error_type: &str, message: &str) -> String {
    serde_json::json!({"type": "error", "error": {"type": error_type, "message": message}})
        .to_string()
}

#[tokio::test]
async fn every_class_of_status_has_its_kind() {
    for (status, error_type, message, kind) in [
        (400, "invalid_request_error", "messages: empty", FailureKind::InvalidRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            FailureKind::TooLong,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            FailureKind::TooLong,
        ),
        (400, "invalid_request_error", "Your credit balance is too low", FailureKind::Billing),
        (401, "authentication_error", "invalid x-api-key", FailureKind::Authentication),
        (402, "billing_error", "no money", FailureKind::Billing),
        (403, "permission_error", "not yours", FailureKind::Authentication),
        (404, "not_found_error", "model: nope", FailureKind::ModelUnavailable),
        (408, "timeout_error", "slow", FailureKind::Server),
        (413, "request_too_large", "too many bytes", FailureKind::InvalidRequest),
        (413, "request_too_large", "Prompt is too long", FailureKind::TooLong),
        (422, "invalid_request_error", "odd", FailureKind::InvalidRequest),
        (429, "rate_limit_error", "slow down", FailureKind::RateLimit),
        (500, "api_error", "oops", FailureKind::Server),
        (503, "overloaded_error", "busy", FailureKind::Overloaded),
        (504, "timeout_error", "slow", FailureKind::Server),
        (529, "overloaded_error", "busy", FailureKind::Overloaded),
    ] {
        let failure = refused(status, &[], &error_body(error_type, message)).await;
        let expected = ModelFailure { status: Some(status), ..ModelFailure::new(kind, message) };
        assert_eq!(failure, expected);
    }
}

#[tokio::test]
async fn hints_about_trying_again_are_passed_on() {
    const NOW: (&str, &str) = ("date", "Sun, 15 Nov 2026 10:00:00 GMT");
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Headers<'_>, Option<u64>, Option<bool>); 9] = [
        (&[("retry-after", "7")], Some(7_000), None),
        (&[("retry-after", "0.5"), ("x-should-retry", "true")], Some(500), Some(true)),
        (&[("retry-after", "7"), ("retry-after-ms", "120")], Some(120), None),
        (&[NOW, ("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT")], Some(30_000), None),
        (&[NOW, ("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT")], Some(0), None),
        (&[("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT")], None, None),
        (&[("retry-after", "-3"), ("x-should-retry", "false")], None, Some(false)),
        (&[("retry-after", "soon"), ("x-should-retry", "maybe")], None, None),
        (&[("retry-after", "1e300")], None, None),
    ];
    for (headers, wait, should_retry) in cases {
        for status in [429, 500, 529] {
            let failure = refused(status, headers, &error_body("any_error", "no")).await;
            let said = (failure.retry_after_ms, failure.should_retry);
            assert_eq!(said, (wait, should_retry), "{headers:?}");
        }
    }
}

#[tokio::test]
async fn refusals_without_a_proper_body_still_read_well() {
    for (status, body, message) in [
        (502, "", "the server answered with status 502 and no explanation"),
        (
            502,
            "<html><h1>Bad gateway</h1>",
            "the server answered with status 502 and no explanation",
        ),
        (503, "upstream is down\n", "upstream is down"),
        (400, "{\"error\":\"just text\"}", "just text"),
        (400, "{\"message\":\"elsewhere\"}", "elsewhere"),
        (400, "{\"detail\":\"in detail\"}", "in detail"),
        (400, "{\"error\":{\"message\":\"a\\u001b[31mb\"}}", "a [31mb"),
    ] {
        assert_eq!(refused(status, &[], body).await.message, message);
    }
    let long = refused(400, &[], &error_body("x", &"ä".repeat(100_000))).await.message;
    assert!(long.chars().count() <= 2_001, "{}", long.len());
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let failure = refused(307, &[("location", "http://127.0.0.1:1/")], "").await;
    assert_eq!(failure.kind, FailureKind::InvalidRequest);
    assert!(failure.message.contains("base URL"), "{}", failure.message);
}

#[tokio::test]
async fn a_refusal_whose_body_stalls_is_still_a_refusal() {
    let mut stalled = answer(429, &[("retry-after", "2")], "{\"error\":");
    stalled.truncate(stalled.len() - 3);
    let (_gate, never) = oneshot::channel();
    let server = Loopback::start(vec![vec![Step::Send(stalled), Step::Wait(never)]]).await;
    let config =
        AnthropicConfig { idle_timeout: Duration::from_millis(50), ..config(&server.base_url) };
    let failure = failure(config).await;
    assert_eq!((failure.kind, failure.retry_after_ms), (FailureKind::RateLimit, Some(2_000)));
}

#[tokio::test]
async fn a_refused_connection_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = failure(config(&format!("http://{address}"))).await;
    assert_eq!((failure.kind, failure.status), (FailureKind::Connection, None));
    assert!(failure.message.contains(&address.to_string()), "{}", failure.message);
    assert!(failure.message.contains("refused"), "{}", failure.message);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let (closed, was_closed) = oneshot::channel();
    let server = Loopback::start(vec![vec![Step::AwaitClose(closed)]]).await;
    let mut config = config(&server.base_url);
    config.request_timeout = Duration::from_millis(50);
    let failure = failure(config).await;
    assert_eq!(failure.kind, FailureKind::Connection);
    assert!(failure.message.contains("did not answer"), "{}", failure.message);
    was_closed.await.unwrap();
}

#[tokio::test]
async fn a_base_url_that_makes_no_sense_is_explained() {
    for base_url in ["", "api.example.com", "ftp://example.com", "data:text/plain,x"] {
        let failure = failure(config(base_url)).await;
        assert_eq!(failure.kind, FailureKind::InvalidRequest, "{base_url}");
        assert!(failure.message.contains("base URL"), "{}", failure.message);
    }
}

#[tokio::test]
async fn headers_that_cannot_be_sent_are_explained() {
    let mut bad = config("http://127.0.0.1:1");
    bad.custom_headers = vec![("x y".to_owned(), "value".to_owned())];
    assert_eq!(failure(bad).await.kind, FailureKind::InvalidRequest);
    let mut bad = config("http://127.0.0.1:1");
    bad.credential = Credential::ApiKey(Secret::new("two\nlines"));
    let failure = failure(bad).await;
    assert_eq!(failure.kind, FailureKind::Authentication);
    assert!(!failure.message.contains("lines"), "{}", failure.message);
}

#[tokio::test]
async fn secrets_appear_neither_in_debug_output_nor_in_messages() {
    let echo =
        error_body("authentication_error", &format!("bad key {KEY}, bad token gate-9876543"));
    let server = Loopback::answering(answer(401, &[], &echo)).await;
    let mut config = config(&server.base_url.replace("http://", "http://user:pass-5550@"));
    config.custom_headers = vec![("x-gateway".to_owned(), "gate-9876543".to_owned())];
    let provider = Anthropic::new(config.clone());
    let shown = format!("{config:?} {provider:?} {:?}", failure(config.clone()).await);
    for secret in [KEY, "gate-9876543", "pass-5550"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(shown.contains("bad key [redacted], bad token [redacted]"), "{shown}");
}

#[tokio::test]
async fn counting_fails_like_asking() {
    let body = error_body("rate_limit_error", &format!("{KEY} is too fast"));
    let server = Loopback::answering(answer(429, &[("retry-after", "3")], &body)).await;
    let failure =
        Anthropic::new(config(&server.base_url)).count_tokens(request()).await.unwrap_err();
    assert_eq!((failure.kind, failure.retry_after_ms), (FailureKind::RateLimit, Some(3_000)));
    assert_eq!(failure.message, "[redacted] is too fast");
    let server = Loopback::answering(answer(200, &[], "{\"tokens\":1}")).await;
    let failure =
        Anthropic::new(config(&server.base_url)).count_tokens(request()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Server);
}
