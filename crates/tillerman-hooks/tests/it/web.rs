//! Handlers that tell a web address.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::HookEnd;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::bench::{Bench, answer, failure, input};

/// A server that answers one request, and what it was asked.
struct Server {
    listener: TcpListener,
    url: String,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Answers the next request; returns its head and body.
    async fn answer(&self, status: &str, body: &str) -> (String, Value) {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut received = Vec::new();
        let (head, told) = loop {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            received.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&received);
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && let Ok(told) = serde_json::from_str::<Value>(body)
            {
                break (head.to_lowercase(), told);
            }
        };
        let length = body.len();
        let response = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(response.as_bytes()).await.unwrap();
        stream.shutdown().await.ok();
        (head, told)
    }
}

fn handler(url: &str) -> Value {
    json!({"type": "http", "url": url})
}

#[tokio::test]
async fn an_address_is_told_and_answers() {
    let (bench, server) = (Bench::new(), Server::start().await);
    let said = "{\"decision\": \"block\", \"reason\": \"not here\"}";
    let handler = handler(&server.url);
    let run = bench.run(&handler, "PreToolUse");
    let (report, (head, told)) = tokio::join!(run, server.answer("200 OK", said));
    assert_eq!(answer(&report).reason.as_deref(), Some("not here"));
    assert_eq!(told, input("PreToolUse"));
    assert!(head.starts_with("post /hook http/1.1"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
}

#[tokio::test]
async fn only_success_is_an_answer_and_no_status_blocks() {
    let (bench, server) = (Bench::new(), Server::start().await);
    let block = "{\"decision\": \"block\"}";
    let table = [
        ("200 OK", "", None),
        ("204 No Content", "", None),
        ("200 OK", "fine", Some("not JSON")),
        ("403 Forbidden", block, Some("status 403")),
        ("500 Oops", "", Some("status 500")),
        ("302 Found", "", Some("status 302")),
    ];
    for (status, body, failed) in table {
        let handler = handler(&server.url);
        let run = bench.run(&handler, "PreToolUse");
        let (report, _) = tokio::join!(run, server.answer(status, body));
        match failed {
            None => assert_eq!(answer(&report), &Default::default(), "{status}"),
            Some(why) => assert!(failure(&report).contains(why), "{status}: {report:?}"),
        }
    }
}

#[tokio::test]
async fn headers_hold_the_variables_that_are_allowed_and_no_others() {
    let server = Server::start().await;
    let mut handler = handler(&server.url);
    handler["headers"] =
        json!({"X-One": "key $HOOK_KEY.", "X-Two": "${OTHER_KEY}", "X-Three": "$5"});
    handler["allowedEnvVars"] = json!(["HOOK_KEY"]);
    let bench = Bench::new();
    let (_, (head, _)) = tokio::join!(bench.run(&handler, "Stop"), server.answer("200 OK", ""));
    assert!(head.contains("x-one: key hunter2.\r\n"), "{head}");
    assert!(head.contains("x-two: \r\n") || head.contains("x-two:\r\n"), "{head}");
    assert!(head.contains("x-three: $5"), "{head}");
    assert!(!head.contains("swordfish"), "{head}");

    let bench = Bench::with(|config| config.allowed_variables = Some(vec!["OTHER_KEY".to_owned()]));
    let (_, (head, _)) = tokio::join!(bench.run(&handler, "Stop"), server.answer("200 OK", ""));
    assert!(!head.contains("hunter2") && !head.contains("swordfish"), "{head}");
}

#[tokio::test]
async fn addresses_can_be_limited() {
    let server = Server::start().await;
    let limited =
        |pattern: &str| Bench::with(|config| config.allowed_urls = Some(vec![pattern.to_owned()]));
    let report = limited("https://hooks.example.com/*").run(&handler(&server.url), "Stop").await;
    assert!(failure(&report).contains("allowedHttpHookUrls"), "{report:?}");
    let bench = limited("http://127.0.0.1:*/hook");
    let handler = handler(&server.url);
    let run = bench.run(&handler, "Stop");
    let (report, _) = tokio::join!(run, server.answer("200 OK", ""));
    assert_eq!(answer(&report), &Default::default());
}

#[tokio::test]
async fn what_goes_wrong_is_told_without_secrets() {
    let mut bench = Bench::new();
    let report = bench.run(&handler("ftp://user:pass@example.com/"), "Stop").await;
    assert!(failure(&report).contains("is not an http"), "{report:?}");
    assert!(!failure(&report).contains("pass"));
    let server = Server::start().await;
    let url = server.url.replace("/hook", "/hook?token=abc");
    drop(server);
    let report = bench.run(&handler(&url), "Stop").await;
    assert!(failure(&report).contains("no connection was made"), "{report:?}");
    assert!(!failure(&report).contains("abc"), "{report:?}");
    let silent = Server::start().await;
    bench.timeout = Duration::from_millis(100);
    let report = bench.run(&handler(&silent.url), "Stop").await;
    assert!(matches!(report.end, HookEnd::TimedOut), "{report:?}");
}
