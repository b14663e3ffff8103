//! The HTTP side of the proxy: tunnels, and plain requests one at a time.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::UnixStream;

use super::connect::{Gate, OpenConnectionError};
use super::rules::split_port;

/// How long the head of a request may be.
const LONGEST_HEAD: usize = 32 * 1024;

/// Serves one connection of which `first` has been read.
pub(crate) async fn serve(mut client: UnixStream, first: u8, gate: &Gate) -> io::Result<()> {
    let mut buffer = vec![first];
    let end = super::proxy::in_time(read_head(&mut client, &mut buffer)).await?;
    let rest = buffer.split_off(end.min(buffer.len()));
    let request = match Request::parse(&buffer) {
        Ok(request) => request,
        Err(why) => return refuse(client, "400 Bad Request", why).await,
    };
    let mut server = match gate.open(&request.host, request.port).await {
        Ok(server) => server,
        Err(OpenConnectionError::Refused(why)) => {
            return refuse(client, "403 Forbidden", &why).await;
        }
        Err(error @ OpenConnectionError::Unreachable { .. }) => {
            return refuse(client, "502 Bad Gateway", &error.to_string()).await;
        }
    };
    match request.forward {
        None => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            server.write_all(&rest).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Some(head) => {
            server.write_all(&head).await?;
            exchange(client, server, &rest, request.body).await
        }
    }
}

/// Passes on one body and one answer. What the client sends after the body goes nowhere: a second
/// request could name another host.
async fn exchange(
    mut client: UnixStream,
    mut server: tokio::net::TcpStream,
    rest: &[u8],
    body: u64,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let early = rest.len().min(usize::try_from(body).unwrap_or(usize::MAX));
    let up = async {
        to_server.write_all(&rest[..early]).await?;
        let mut late = (&mut from_client).take(body - early as u64);
        tokio::io::copy(&mut late, &mut to_server).await
    };
    let down = async {
        tokio::io::copy(&mut from_server, &mut to_client).await?;
        to_client.shutdown().await
    };
    tokio::pin!(up, down);
    // The answer may come, and end, before the body has been sent.
    tokio::select! {
        sent = &mut up => {
            sent?;
            down.await
        }
        answered = &mut down => answered,
    }
}

async fn refuse(mut client: UnixStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("tillerman sandbox: {why}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

/// Reads up to the empty line and says where it ends.
async fn read_head(client: &mut UnixStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut seen = 0;
    loop {
        let from = seen.max(3) - 3;
        if let Some(at) = buffer[from..].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            return Ok(from + at + 4);
        }
        seen = buffer.len();
        if seen > LONGEST_HEAD {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the head is too long"));
        }
        if client.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A request as far as the proxy cares.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// The head for the server; nothing for a tunnel.
    forward: Option<Vec<u8>>,
    /// How long the body is.
    body: u64,
}

impl Request {
    fn parse(head: &[u8]) -> Result<Self, &'static str> {
        let head = std::str::from_utf8(head).map_err(|_| "the head of the request is no text")?;
        let mut lines = head.trim_end_matches("\r\n").split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("the request line is not HTTP/1.1");
        };
        if method == "CONNECT" {
            let Some((host, Some(port))) = split_port(target) else {
                return Err("CONNECT needs a host and a port");
            };
            return Ok(Self { host: host.to_owned(), port, forward: None, body: 0 });
        }
        let Some(rest) = target.strip_prefix("http://") else {
            return Err("only http:// addresses and CONNECT are carried");
        };
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let Some((host, port)) = split_port(authority).filter(|(host, _)| !host.is_empty()) else {
            return Err("the address has no host");
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut forward = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\n");
        let body = copy_headers(lines, &mut forward)?;
        forward.push_str("Connection: close\r\n\r\n");
        let port = port.unwrap_or(80);
        Ok(Self { host: host.to_owned(), port, forward: Some(forward.into_bytes()), body })
    }
}

/// Copies the headers that concern the server and returns the length of the body.
fn copy_headers<'a>(
    lines: impl Iterator<Item = &'a str>,
    forward: &mut String,
) -> Result<u64, &'static str> {
    let mut length: Option<u64> = None;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err("a header has no colon");
        };
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) || value.contains(['\r', '\n', '\0']) {
            return Err("a header is malformed");
        }
        match name.to_ascii_lowercase().as_str() {
            "host" | "connection" | "keep-alive" | "upgrade" | "te" => continue,
            proxy if proxy.starts_with("proxy-") => continue,
            // A server that counts differently would see a second request in the body.
            "transfer-encoding" => return Err("bodies of unknown length are not carried"),
            "content-length" => {
                let known =
                    value.trim().parse().map_err(|_| "the length of the body is unclear")?;
                if length.replace(known).is_some_and(|before| before != known) {
                    return Err("the length of the body is unclear");
                }
                continue;
            }
            _ => {}
        }
        forward.push_str(line);
        forward.push_str("\r\n");
    }
    if let Some(length) = length {
        forward.push_str(&format!("Content-Length: {length}\r\n"));
    }
    Ok(length.unwrap_or(0))
}

#[cfg(test)]
mod tests;
