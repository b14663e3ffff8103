//! A minimal HTTP client that shows exactly what came over the wire.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What a client received before the connection closed.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// Whether the body ended the way HTTP ends a body.
    pub(crate) complete: bool,
}

impl Received {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of the events in the body.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    /// The types of the events in the body.
    pub(crate) fn event_types(&self) -> Vec<String> {
        self.events().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

/// A good streaming request with one prompt.
pub(crate) fn request(prompt: &str) -> Value {
    conversation(json!([{ "role": "user", "content": prompt }]))
}

/// A good streaming request with these messages.
pub(crate) fn conversation(messages: Value) -> Value {
    let mut body = json!({
        "model": "test-model",
        "max_tokens": 100,
        "stream": true,
        "system": [{ "type": "text", "text": "Be brief." }],
        "tools": [{ "name": "Bash", "input_schema": { "type": "object" } }],
    });
    body["messages"] = messages;
    body
}

/// Sends a message request and reads everything until the connection closes.
pub(crate) async fn post(url: &str, body: &Value) -> Received {
    post_to(url, "/v1/messages", body).await
}

/// The same for any path.
pub(crate) async fn post_to(url: &str, path: &str, body: &Value) -> Received {
    let mut connection = send(url, path, body).await;
    let mut bytes = Vec::new();
    connection.read_to_end(&mut bytes).await.unwrap();
    parse(&String::from_utf8(bytes).unwrap())
}

/// Sends a request and leaves the reading to the caller.
pub(crate) async fn send(url: &str, path: &str, body: &Value) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-api-key: dummy\r\n\
         anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    connection
}

/// Reads until the text has arrived.
pub(crate) async fn read_until(connection: &mut TcpStream, text: &str) -> String {
    let mut received = String::new();
    while !received.contains(text) {
        let mut buffer = [0; 4096];
        let count = connection.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "the connection closed before {text:?}: {received}");
        received.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    received
}

fn parse(text: &str) -> Received {
    let (headers, rest) = text.split_once("\r\n\r\n").unwrap();
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    let headers = headers.to_lowercase();
    let (body, complete) = if headers.contains("transfer-encoding: chunked") {
        unchunk(rest)
    } else {
        (rest.to_owned(), true)
    };
    Received { status, headers, body, complete }
}

fn unchunk(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&tail[..size]);
        rest = &tail[size + 2..];
    }
    (body, false)
}
