//! What refusals of OpenAI-compatible servers mean, and which provider a name chooses.

use tillerman_models::openai::{OLLAMA_BASE_URL, OPENAI_BASE_URL, ProviderKind, provider_for};
use tillerman_protocol::model::FailureKind;

use crate::asking::{KEY, only_failure, request};
use crate::loopback::{Loopback, answer};
use crate::openai_asking::{config, events};

#[tokio::test]
async fn refusals_are_classified_by_status_and_code() {
    let table = [
        (
            401,
            r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#,
            FailureKind::Authentication,
        ),
        (403, r#"{"error":{"message":"no"}}"#, FailureKind::Authentication),
        (402, r#"{"error":{"message":"pay"}}"#, FailureKind::Billing),
        (
            404,
            r#"{"error":{"message":"model 'x' not found, try pulling it first"}}"#,
            FailureKind::ModelUnavailable,
        ),
        (
            400,
            r#"{"error":{"message":"m","code":"model_not_found"}}"#,
            FailureKind::ModelUnavailable,
        ),
        (429, r#"{"error":{"message":"slow","type":"requests"}}"#, FailureKind::RateLimit),
        (429, r#"{"error":{"message":"q","type":"insufficient_quota"}}"#, FailureKind::Billing),
        (
            400,
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            FailureKind::TooLong,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 10","code":400}"#,
            FailureKind::TooLong,
        ),
        (
            400,
            r#"{"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","code":400}}"#,
            FailureKind::TooLong,
        ),
        (400, r#"{"error":"invalid role"}"#, FailureKind::InvalidRequest),
        (500, "oops", FailureKind::Server),
        (503, r#"{"error":{"message":"Loading model"}}"#, FailureKind::Server),
    ];
    for (status, body, kind) in table {
        let server = Loopback::answering(answer(status, &[("retry-after", "2")], body)).await;
        let events = events(config(&server.base_url), request()).await;
        let failure = only_failure(&events);
        assert_eq!((failure.kind, failure.status), (kind, Some(status)), "{body}");
        assert_eq!(failure.retry_after_ms, Some(2000), "{body}");
        assert!(!failure.message.is_empty() && !failure.message.contains('{'), "{failure:?}");
        assert_eq!(events.len(), 1, "one attempt, one failure");
    }
}

#[tokio::test]
async fn nobody_listening_is_a_connection_failure() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let events = events(config(&address), request()).await;
    assert_eq!(only_failure(&events).kind, FailureKind::Connection);
}

#[tokio::test]
async fn messages_never_repeat_the_key() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#);
    let server = Loopback::answering(answer(401, &[], &body)).await;
    let config = config(&server.base_url);
    assert!(!format!("{config:?}").contains(KEY));
    let events = events(config, request()).await;
    assert_eq!(only_failure(&events).message, "Incorrect API key: [redacted]");
}

#[tokio::test]
async fn a_whole_document_instead_of_a_stream_is_explained() {
    let json = [("content-type", "application/json")];
    for (body, kind, text) in [
        (r#"{"choices":[]}"#, FailureKind::Stream, "instead of a stream"),
        (r#"{"error":{"message":"q","code":"insufficient_quota"}}"#, FailureKind::Billing, "q"),
    ] {
        let server = Loopback::answering(answer(200, &json, body)).await;
        let events = events(config(&server.base_url), request()).await;
        let failure = only_failure(&events);
        assert_eq!(failure.kind, kind);
        assert!(failure.message.contains(text), "{failure:?}");
    }
}

#[test]
fn names_and_urls_choose_the_provider() {
    let chat = |base_url: &str, model: &str| ProviderKind::OpenAiCompatible {
        base_url: base_url.to_owned(),
        model: model.to_owned(),
    };
    let local = "http://127.0.0.1:8080/v1";
    let table = [
        ("rehearsal", None, ProviderKind::Rehearsal),
        ("rehearsal", Some(local), ProviderKind::Rehearsal),
        ("claude-opus-4-1", None, ProviderKind::Anthropic),
        ("sonnet", Some("https://api.anthropic.com"), ProviderKind::Anthropic),
        ("sonnet", Some("https://api.anthropic.com/v1"), ProviderKind::Anthropic),
        ("sonnet", Some("https://gateway.example.com/anthropic"), ProviderKind::Anthropic),
        ("openai:gpt-5", None, chat(OPENAI_BASE_URL, "gpt-5")),
        ("openai/gpt-5", None, chat(OPENAI_BASE_URL, "gpt-5")),
        ("ollama:llama3:8b", None, chat(OLLAMA_BASE_URL, "llama3:8b")),
        ("ollama/qwen3", Some("http://box:11434"), chat("http://box:11434/v1", "qwen3")),
        ("openai:gpt-5", Some("https://api.anthropic.com"), chat(OPENAI_BASE_URL, "gpt-5")),
        ("openai/gpt-oss-20b", Some(local), chat(local, "openai/gpt-oss-20b")),
        ("qwen3", Some("http://127.0.0.1:8080/v1/"), chat(local, "qwen3")),
        ("qwen3", Some("http://127.0.0.1:8080/v1/chat/completions"), chat(local, "qwen3")),
        ("openai:", None, ProviderKind::Anthropic),
    ];
    for (model, base_url, expected) in table {
        assert_eq!(provider_for(model, base_url), expected, "{model} {base_url:?}");
    }
}
