//! A server on this machine that answers every path in its own way and counts its visitors.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A running server; it ends when dropped.
#[derive(Debug)]
pub(crate) struct WebServer {
    address: SocketAddr,
    visits: Arc<Mutex<HashMap<String, usize>>>,
    _task: JoinSet<()>,
}

impl WebServer {
    /// A server whose answers are looked up by path; what is not listed is not found.
    pub(crate) async fn start(pages: &[(&str, String)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let visits: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let pages: HashMap<String, String> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect();
        let seen = Arc::clone(&visits);
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => request.push(byte),
                        Err(_) => break,
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                *seen.lock().unwrap().entry(path.clone()).or_default() += 1;
                let missing = || answer("404 Not Found", "text/plain", "no such page");
                let page = pages.get(&path).cloned().unwrap_or_else(missing);
                // A client that has seen enough may be gone already.
                stream.write_all(page.as_bytes()).await.ok();
                stream.shutdown().await.ok();
            }
        });
        Self { address, visits, _task: task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How often a path was asked for.
    pub(crate) fn visits(&self, path: &str) -> usize {
        self.visits.lock().unwrap().get(path).copied().unwrap_or(0)
    }

    /// The paths that were asked for.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.visits.lock().unwrap().keys().cloned().collect()
    }
}

/// A whole answer.
pub(crate) fn answer(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The way to another place.
pub(crate) fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}
