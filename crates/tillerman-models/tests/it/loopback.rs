//! A scripted server on the loopback interface that sends exactly the bytes it is told to.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// One thing the server does on a connection after it has read a request.
pub(crate) enum Step {
    /// Sends bytes in one write.
    Send(Vec<u8>),
    /// Sends bytes in as many writes as there are bytes.
    Trickle(Vec<u8>),
    /// Waits for the test.
    Wait(oneshot::Receiver<()>),
    /// Waits until the client closes the connection, and says so.
    AwaitClose(oneshot::Sender<()>),
}

/// A request as the server saw it.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    /// The value of a header, by its lowercase name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, text)| text)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// The server. Each connection plays the next script and is then closed.
pub(crate) struct Loopback {
    pub(crate) base_url: String,
    received: mpsc::Receiver<Received>,
    _server: JoinSet<()>,
}

impl Loopback {
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, received) = mpsc::channel(scripts.len().max(1));
        let mut server = JoinSet::new();
        server.spawn(async move {
            for script in scripts {
                let (socket, _) = listener.accept().await.unwrap();
                play(socket, script, &sender).await;
            }
        });
        Self { base_url, received, _server: server }
    }

    /// A server that answers one request with these bytes.
    pub(crate) async fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        Self::start(vec![vec![Step::Send(bytes.into())]]).await
    }

    pub(crate) async fn received(&mut self) -> Received {
        let next = tokio::time::timeout(Duration::from_secs(10), self.received.recv());
        next.await.unwrap().unwrap()
    }
}

async fn play(mut socket: TcpStream, script: Vec<Step>, sender: &mpsc::Sender<Received>) {
    socket.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut socket).await else { return };
    sender.send(request).await.unwrap();
    // A client that has gone away is what some tests are about.
    for step in script {
        match step {
            Step::Send(bytes) => drop(socket.write_all(&bytes).await),
            Step::Trickle(bytes) => {
                for byte in bytes {
                    drop(socket.write_all(&[byte]).await);
                    tokio::task::yield_now().await;
                }
            }
            Step::Wait(gate) => drop(gate.await),
            Step::AwaitClose(closed) => {
                while matches!(socket.read(&mut [0; 64]).await, Ok(count) if count > 0) {}
                closed.send(()).unwrap_or_default();
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(found) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break found + 4;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut request = Received { head, body: bytes.split_off(head_end) };
    let length: usize = request.header("content-length").unwrap().parse().unwrap();
    while request.body.len() < length {
        if socket.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(request)
}

/// A whole answer with its length.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// The head of a stream that ends when the connection does.
pub(crate) fn stream_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
      request-id: req_011\r\nconnection: close\r\n\r\n"
        .to_vec()
}

/// A stream's head followed by its events.
pub(crate) fn streamed(events: &str) -> Vec<u8> {
    [&stream_head(), events.as_bytes()].concat()
}
