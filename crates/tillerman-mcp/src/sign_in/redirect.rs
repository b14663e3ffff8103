//! The address on this machine that a browser is sent back to.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

const PATH: &str = "/callback";
/// How long a browser may take to send its request.
const REQUEST: Duration = Duration::from_secs(2);
/// How large a request may be.
const LONGEST: usize = 16 * 1024;
/// How long a failing listener rests, so that it cannot spin.
const REST: Duration = Duration::from_millis(100);

/// Listens for a browser that comes back.
#[derive(Debug)]
pub(super) struct Redirect {
    listener: TcpListener,
    port: u16,
}

impl Redirect {
    /// Listens on this machine only; without a port, on any that is free.
    pub(super) async fn listen(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address that browsers are sent back to.
    pub(super) fn uri(&self) -> String {
        format!("http://localhost:{}{PATH}", self.port)
    }

    /// Waits for a request that `judge` has a result for, and tells the browser how that went.
    ///
    /// # Cancel safety
    /// Dropping the future may lose a request that has just arrived.
    pub(super) async fn next<T>(&self, judge: impl Fn(&str) -> (Option<T>, String)) -> T {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                sleep(REST).await;
                continue;
            };
            let answered = timeout(REQUEST, self.answer(&mut stream, &judge)).await;
            if let Ok(Ok(Some(result))) = answered {
                return result;
            }
        }
    }

    async fn answer<T>(
        &self,
        stream: &mut TcpStream,
        judge: impl Fn(&str) -> (Option<T>, String),
    ) -> io::Result<Option<T>> {
        let target = target(stream).await?;
        let is_ours = target.as_deref().is_some_and(|target| {
            target.strip_prefix(PATH).is_some_and(|rest| rest.starts_with('?'))
        });
        let Some(target) = target.filter(|_| is_ours) else {
            respond(stream, "404 Not Found", "There is nothing here.").await?;
            return Ok(None);
        };
        let (result, words) = judge(&format!("http://localhost:{}{target}", self.port));
        let status = if result.is_some() { "200 OK" } else { "400 Bad Request" };
        // The answer counts even when the browser does not stay to read ours.
        drop(respond(stream, status, &words).await);
        Ok(result)
    }
}

/// What a request asks for, unless it is something that no browser sends.
async fn target(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await?;
        if count == 0 || head.len() + count > LONGEST {
            return Ok(None);
        }
        head.extend_from_slice(piece.get(..count).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    Ok(match (words.next(), words.next()) {
        (Some("GET"), Some(target)) => Some(target.to_owned()),
        _ => None,
    })
}

async fn respond(stream: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{words}",
        words.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
