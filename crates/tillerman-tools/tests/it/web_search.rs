//! The web is searched where somebody configured a way to.

use serde_json::{Value, json};
use tillerman_protocol::model::FailureKind;
use tillerman_tools::SearchSource;

use crate::bench::{Bench, structured, text};
use crate::fetch::{Scripted, blocks};
use crate::web_server::{WebServer, answer};

fn with_source(source: SearchSource) -> Bench {
    Bench::with(|config| config.web.search = Some(source))
}

#[tokio::test]
async fn a_configured_address_is_asked() {
    let results = json!({"results": [
        {"title": "Rust", "url": "https://www.rust-lang.org/", "snippet": "A language"},
        {"title": "Spam", "link": "https://spam.example/x"},
        {"title": "no address"},
    ]});
    let path = "/find?q=rust%20%26%20c%2B%2B";
    let page = answer("200 OK", "application/json", &results.to_string());
    let server = WebServer::start(&[(path, page)]).await;
    let bench = with_source(SearchSource::Endpoint(server.url("/find?q={query}")));
    let input = json!({"query": "rust & c++", "blocked_domains": ["spam.example"]});
    let output = bench.call("WebSearch", input).await.unwrap();
    assert!(text(&output).contains("- [Rust](https://www.rust-lang.org/)\n  A language"));
    assert!(!text(&output).contains("spam"), "{}", text(&output));
    let mut told = structured(&output);
    assert!(told["durationSeconds"].is_number());
    told["durationSeconds"] = Value::Null;
    let hits = json!([{"title": "Rust", "url": "https://www.rust-lang.org/"}]);
    assert_eq!(
        told,
        json!({
            "query": "rust & c++", "durationSeconds": null, "searchCount": 1,
            "results": [{"tool_use_id": "search_1", "content": hits}],
        })
    );
    let input = json!({"query": "rust & c++", "allowed_domains": ["lang.org"]});
    let output = bench.call("WebSearch", input).await.unwrap();
    assert!(text(&output).starts_with("Nothing was found"), "{}", text(&output));
}

#[tokio::test]
async fn a_search_address_in_a_private_network_is_refused_and_never_shown() {
    let bench =
        with_source(SearchSource::Endpoint("http://10.0.0.1/?key=hunter2&q={query}".into()));
    let refusal = bench.failure("WebSearch", json!({"query": "rust"})).await;
    assert!(refusal.contains("not on the public internet"), "{refusal}");
    assert!(!refusal.contains("hunter2"), "{refusal}");
    let server = WebServer::start(&[]).await;
    let bench = with_source(SearchSource::Endpoint(server.url("/?key=hunter2&q={query}")));
    let refusal = bench.failure("WebSearch", json!({"query": "rust"})).await;
    assert!(refusal.contains("404") && !refusal.contains("hunter2"), "{refusal}");
}

#[tokio::test]
async fn the_provider_searches_through_a_side_request() {
    let hit = json!({"type": "web_search_result", "title": "T", "url": "https://t.example/",
        "encrypted_content": "opaque"});
    let model = Scripted::new(blocks(&[
        json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [hit]}),
        json!({"type": "text", "text": "In short: T."}),
    ]));
    let bench = with_source(SearchSource::Provider(model.as_side_model()));
    let input = json!({"query": "what is t", "allowed_domains": ["t.example"]});
    let output = bench.call("WebSearch", input).await.unwrap();
    assert!(
        text(&output).contains("- [T](https://t.example/)\n\nIn short: T."),
        "{}",
        text(&output)
    );
    let results = structured(&output)["results"].clone();
    let content = json!([{"title": "T", "url": "https://t.example/"}]);
    assert_eq!(results, json!([{"tool_use_id": "srv_1", "content": content}, "In short: T."]));
    let request = model.requests.lock().unwrap().pop().unwrap();
    let tools = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8,
        "allowed_domains": ["t.example"]}]);
    assert_eq!(request.extra_body["tools"], tools);
}

#[tokio::test]
async fn providers_without_a_search_are_explained() {
    let model = Scripted::failing(FailureKind::InvalidRequest);
    let bench = with_source(SearchSource::Provider(model.as_side_model()));
    let refusal = bench.failure("WebSearch", json!({"query": "rust"})).await;
    assert!(refusal.contains("may offer no web search"), "{refusal}");
    let model = Scripted::new(blocks(&[json!({"type": "text", "text": "I cannot."})]));
    let bench = with_source(SearchSource::Provider(model.as_side_model()));
    let refusal = bench.failure("WebSearch", json!({"query": "rust"})).await;
    assert!(refusal.contains("answered without searching"), "{refusal}");
}
