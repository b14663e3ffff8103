//! The SOCKS side of the proxy, version 5.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::UnixStream;

use super::connect::{Gate, OpenConnectionError};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

const GRANTED: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NOT_SUPPORTED: u8 = 7;

/// Serves one connection whose first byte, the version, has been read.
pub(crate) async fn serve(mut client: UnixStream, gate: &Gate) -> io::Result<()> {
    let Some((host, port)) = super::proxy::in_time(request(&mut client)).await? else {
        return client.shutdown().await;
    };
    match gate.open(&host, port).await {
        Ok(mut server) => {
            answer(&mut client, GRANTED).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Err(error) => {
            let code = match error {
                OpenConnectionError::Refused(_) => NOT_ALLOWED,
                OpenConnectionError::Unreachable { .. } => UNREACHABLE,
            };
            answer(&mut client, code).await?;
            client.shutdown().await
        }
    }
}

/// Reads greeting and request; nothing when they ask for what is not there.
async fn request(client: &mut UnixStream) -> io::Result<Option<(String, u16)>> {
    let count = client.read_u8().await?;
    let mut methods = vec![0; usize::from(count)];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        client.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    let [version, command, _, kind] = head;
    let host = match kind {
        1 => Ipv4Addr::from(client.read_u32().await?).to_string(),
        3 => {
            let mut name = vec![0; usize::from(client.read_u8().await?)];
            client.read_exact(&mut name).await?;
            String::from_utf8_lossy(&name).into_owned()
        }
        4 => Ipv6Addr::from(client.read_u128().await?).to_string(),
        _ => {
            answer(client, NOT_SUPPORTED).await?;
            return Ok(None);
        }
    };
    let port = client.read_u16().await?;
    if version != VERSION || command != CONNECT {
        answer(client, NOT_SUPPORTED).await?;
        return Ok(None);
    }
    Ok(Some((host, port)))
}

/// Answers with a code and an address that means nothing.
async fn answer(client: &mut UnixStream, code: u8) -> io::Result<()> {
    client.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
