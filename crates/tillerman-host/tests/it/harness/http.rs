//! A client that sends exactly the headers it is told to.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::within;

/// A request that is being put together.
pub(crate) struct Call {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Call {
    pub(crate) fn new(address: SocketAddr, method: &'static str, path: &str) -> Self {
        let headers = vec![("host".to_owned(), address.to_string())];
        Self { address, method, path: path.to_owned(), headers, body: Vec::new() }
    }

    /// Sets a header in place of one of that name.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(held, _)| held != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.raw(body.to_string().into_bytes()).header("content-type", "application/json")
    }

    pub(crate) fn raw(self, body: Vec<u8>) -> Self {
        Self { body, ..self }
    }

    pub(crate) async fn send(self) -> Answer {
        within("an answer", self.exchange(None)).await
    }

    /// Reads an answer that has no end of its own, up to this text.
    pub(crate) async fn send_until(self, text: &str) -> Answer {
        within(text, self.exchange(Some(text))).await
    }

    async fn exchange(self, until: Option<&str>) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes()).await.unwrap();
        // A host that refuses may hang up before it has read everything.
        drop(stream.write_all(&self.body).await);
        let mut answer = Vec::new();
        let is_there =
            |answer: &[u8]| until.is_some_and(|it| String::from_utf8_lossy(answer).contains(it));
        while !is_there(&answer) && stream.read_buf(&mut answer).await.is_ok_and(|read| read > 0) {}
        Answer::read(&answer)
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) text: String,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let head = head.to_lowercase();
        let is_chunked = head.contains("transfer-encoding: chunked");
        let body = if is_chunked { unchunk(body) } else { body.to_owned() };
        Self { status, head, text: body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(held, _)| *held == name).map(|(_, value)| value).next()
    }

    /// The body of an answer with this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// The code of an error with this status, which has a sentence for people.
    #[track_caller]
    pub(crate) fn expect_error(self, status: u16) -> String {
        let body = self.expect(status);
        assert!(body["error"]["message"].as_str().unwrap().ends_with('.'), "{body}");
        body["error"]["code"].as_str().unwrap().to_owned()
    }
}

fn unchunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0).min(rest.len());
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
