//! Pages of the web are read, and private places are not.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};
use tillerman_protocol::stream::StreamEvent;
use tillerman_tools::{Reach, SideModel};

use crate::bench::{Bench, structured, text};
use crate::web_server::{WebServer, answer, redirect};

fn reaching_this_machine() -> Bench {
    Bench::with(|config| config.web.reach = Reach::PublicAndLoopback)
}

fn fetch(url: &str) -> Value {
    json!({"url": url, "prompt": "What does it say?"})
}

/// A model that answers every request with the same events and keeps the requests.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) events: Vec<ModelEvent>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
}

impl Scripted {
    pub(crate) fn new(events: Vec<Value>) -> Arc<Self> {
        let event = |event: Value| ModelEvent::Stream(serde_json::from_value(event).unwrap());
        let events = events.into_iter().map(event).collect();
        Arc::new(Self { events, requests: Mutex::default() })
    }

    pub(crate) fn failing(kind: FailureKind) -> Arc<Self> {
        let events = vec![ModelEvent::Failed(ModelFailure::new(kind, "no luck"))];
        Arc::new(Self { events, requests: Mutex::default() })
    }

    pub(crate) fn as_side_model(self: &Arc<Self>) -> SideModel {
        let model = Arc::clone(self) as Arc<dyn Model>;
        SideModel { model, name: "small".to_owned(), session: "s".to_owned() }
    }
}

impl Model for Scripted {
    fn respond(&self, request: ModelRequest) -> EventStream {
        self.requests.lock().unwrap().push(request);
        Box::pin(futures_util::stream::iter(self.events.clone()))
    }

    fn count_tokens(&self, _: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        Box::pin(std::future::ready(Ok(0)))
    }
}

/// The events of an answer made of these blocks.
pub(crate) fn blocks(blocks: &[Value]) -> Vec<Value> {
    let starts = blocks.iter().enumerate().flat_map(|(index, block)| {
        let text = block.get("text").and_then(Value::as_str);
        let mut start = block.clone();
        let mut events = Vec::new();
        if let Some(text) = text {
            start["text"] = json!("");
            let delta = json!({"type": "text_delta", "text": text});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.insert(
            0,
            json!({"type": "content_block_start", "index": index, "content_block": start}),
        );
        events
    });
    let end = serde_json::to_value(StreamEvent::MessageStop).unwrap();
    starts.chain([end]).collect()
}

#[tokio::test]
async fn pages_become_markdown_and_are_kept_for_a_while() {
    let page = "<html><head><title>T</title></head><body><h1>Hi</h1><a href='/x'>more</a></body>";
    let server = WebServer::start(&[
        ("/page", answer("200 OK", "text/html; charset=utf-8", page)),
        ("/data", answer("200 OK", "application/json", "{\"a\": 1}")),
    ])
    .await;
    let bench = reaching_this_machine();
    let url = server.url("/page");
    let output = bench.call("WebFetch", fetch(&url)).await.unwrap();
    let expected = format!("# T\n\n# Hi\n\n[more]({})", server.url("/x"));
    assert_eq!(text(&output), expected);
    let mut told = structured(&output);
    assert!(told["durationMs"].is_u64());
    told["durationMs"] = json!(0);
    let whole = json!({
        "bytes": page.len(), "code": 200, "codeText": "OK", "result": expected,
        "durationMs": 0, "url": url,
    });
    assert_eq!(told, whole);
    bench.call("WebFetch", fetch(&url)).await.unwrap();
    assert_eq!(server.visits("/page"), 1, "the second call uses the page fetched before");
    let output = bench.call("WebFetch", fetch(&server.url("/data"))).await.unwrap();
    assert_eq!(text(&output), "{\"a\": 1}");
}

#[tokio::test]
async fn a_configured_model_answers_about_the_page() {
    let server =
        WebServer::start(&[("/", answer("200 OK", "text/plain", "the sky is blue"))]).await;
    let model = Scripted::new(blocks(&[json!({"type": "text", "text": "It says blue."})]));
    let bench = Bench::with(|config| {
        config.web.reach = Reach::PublicAndLoopback;
        config.web.reader = Some(model.as_side_model());
    });
    let output = bench.call("WebFetch", fetch(&server.url("/"))).await.unwrap();
    assert_eq!(text(&output), "It says blue.");
    let request = model.requests.lock().unwrap().pop().unwrap();
    let asked = request.messages[0].content.plain_text();
    assert!(asked.contains("the sky is blue") && asked.contains("What does it say?"), "{asked}");
    assert_eq!((request.model.as_str(), request.tools.len()), ("small", 0));

    let model = Scripted::failing(FailureKind::Overloaded);
    let bench = Bench::with(|config| {
        config.web.reach = Reach::PublicAndLoopback;
        config.web.reader = Some(model.as_side_model());
    });
    let told = text(&bench.call("WebFetch", fetch(&server.url("/"))).await.unwrap());
    assert!(told.contains("no luck") && told.ends_with("the sky is blue"), "{told}");
}

#[tokio::test]
async fn long_pages_are_read_in_parts() {
    let long = format!("{}END", "x".repeat(100_000));
    let server = WebServer::start(&[("/", answer("200 OK", "text/plain", &long))]).await;
    let bench = reaching_this_machine();
    let told = text(&bench.call("WebFetch", fetch(&server.url("/"))).await.unwrap());
    assert!(told.ends_with("[The page has 100003 characters; read on with offset 100000.]"));
    let mut rest = fetch(&server.url("/"));
    rest["offset"] = json!(100_000);
    assert_eq!(text(&bench.call("WebFetch", rest).await.unwrap()), "END");
}

#[tokio::test]
async fn redirects_are_followed_on_one_host_and_told_otherwise() {
    let server = WebServer::start(&[
        ("/one", redirect("/two")),
        ("/two", redirect("three")),
        ("/three", answer("200 OK", "text/plain", "here")),
        ("/circle", redirect("/circle")),
        ("/away", redirect("https://elsewhere.example/x")),
        ("/inside", redirect("http://169.254.169.254/latest/meta-data/")),
        ("/file", redirect("file:///etc/passwd")),
    ])
    .await;
    let bench = reaching_this_machine();
    let told = text(&bench.call("WebFetch", fetch(&server.url("/one"))).await.unwrap());
    assert_eq!(told, "here");
    let refusal = bench.failure("WebFetch", fetch(&server.url("/circle"))).await;
    assert!(refusal.contains("redirects more than 5 times"), "{refusal}");
    assert_eq!(server.visits("/circle"), 6);
    let output = bench.call("WebFetch", fetch(&server.url("/away"))).await.unwrap();
    assert!(text(&output).contains("https://elsewhere.example/x"), "{}", text(&output));
    assert_eq!(structured(&output)["code"], 302);
    let output = bench.call("WebFetch", fetch(&server.url("/inside"))).await.unwrap();
    assert!(text(&output).contains("Nothing was fetched from there"), "{}", text(&output));
    let refusal = bench.failure("WebFetch", fetch(&server.url("/file"))).await;
    assert!(refusal.contains("only http and https"), "{refusal}");
}

#[tokio::test]
async fn private_addresses_are_refused_however_they_are_written() {
    let server = WebServer::start(&[("/", answer("200 OK", "text/plain", "secret"))]).await;
    let port = server.port();
    let bench = Bench::new();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0.0.0.0",
        "[::]",
        "127.0.0.1.",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}/");
            let refusal = bench.failure("WebFetch", fetch(&url)).await;
            assert!(refusal.contains("not on the public internet"), "{url}: {refusal}");
        }
    }
    for host in ["169.254.169.254", "10.0.0.1", "192.168.0.1", "[fd00:ec2::254]", "[fe80::1]"] {
        let refusal = bench.failure("WebFetch", fetch(&format!("http://{host}/"))).await;
        assert!(refusal.contains("not on the public internet"), "{host}: {refusal}");
    }
    assert_eq!(server.paths(), [""; 0], "nobody was connected to");
    let looser = reaching_this_machine();
    let refusal = looser.failure("WebFetch", fetch("http://10.0.0.1/")).await;
    assert!(refusal.contains("not on the public internet"), "{refusal}");
    let told = looser.call("WebFetch", fetch(&format!("http://localhost:{port}/"))).await.unwrap();
    assert_eq!(text(&told), "secret");
}

#[tokio::test]
async fn failures_say_what_happened() {
    let huge = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99999999\r\n\r\n";
    let endless = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n{}",
        "x".repeat(11 << 20)
    );
    let server = WebServer::start(&[
        ("/zip", answer("200 OK", "application/zip", "PK")),
        ("/huge", huge.to_owned()),
        ("/endless", endless),
    ])
    .await;
    let bench = reaching_this_machine();
    for (path, message) in [
        ("/gone", "the server answered 404 Not Found"),
        ("/zip", "application/zip"),
        ("/huge", "larger than 10 MB"),
        ("/endless", "larger than 10 MB"),
    ] {
        let refusal = bench.failure("WebFetch", fetch(&server.url(path))).await;
        assert!(refusal.contains(message), "{path}: {refusal}");
    }
    drop(server);
}
