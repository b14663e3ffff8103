//! The HTTP side of the proxy: tunnels, and plain requests one at a time.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpStream, UnixStream};

use super::body::Framing;
use super::broker::{self, Route};
use super::connect::{Gate, OpenConnectionError};
use super::request::Request;
use super::violations::ViolationKind;

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
    match gate.broker.route(&request, &buffer) {
        Route::Plain => carry(client, &rest, &request, gate).await,
        Route::Lent(service) => {
            Box::pin(broker::serve(client, rest, &request, service, gate)).await
        }
        Route::Astray(why) => {
            gate.violations.add(ViolationKind::Network, why.clone());
            refuse(client, "403 Forbidden", &why).await
        }
    }
}

/// Carries a tunnel or a request that concerns no credential.
async fn carry(
    mut client: UnixStream,
    rest: &[u8],
    request: &Request,
    gate: &Gate,
) -> io::Result<()> {
    let body = match request.body {
        Framing::Length(length) => length,
        Framing::Empty | Framing::UntilClosed => 0,
        Framing::Chunked => {
            let why = "bodies of unknown length are not carried";
            return refuse(client, "400 Bad Request", why).await;
        }
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
    if request.is_tunnel() {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        server.write_all(rest).await?;
        return copy_bidirectional(&mut client, &mut server).await.map(drop);
    }
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    server.write_all(request.head(&request.authority, headers).as_bytes()).await?;
    exchange(client, server, rest, body).await
}

/// Passes on one body and one answer. What the client sends after the body goes nowhere: a second
/// request could name another host.
async fn exchange(
    mut client: UnixStream,
    mut server: TcpStream,
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

/// Answers in the place of a server.
pub(crate) async fn refuse(mut client: UnixStream, status: &str, why: &str) -> io::Result<()> {
    client.write_all(refusal(status, why).as_bytes()).await?;
    client.shutdown().await
}

/// An answer in the place of a server's.
pub(crate) fn refusal(status: &str, why: &str) -> String {
    let body = format!("tillerman sandbox: {why}\n");
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
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
