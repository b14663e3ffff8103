//! One request to a host of a credential: over HTTPS, with the secrets it asks for.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::answer::Answer;
use super::loans::Service;
use super::rewriting::{self, Echo, Swap};
use super::tls::HandshakeError;
use crate::egress::body::{PassOnError, pass_on, read_line, write};
use crate::egress::connect::{Gate, OpenConnectionError};
use crate::egress::http::{refusal, refuse};
use crate::egress::request::Request;

/// How long a secret may take to be found.
const SECRET_WAIT: Duration = Duration::from_secs(60);
/// How many lines the head of an answer may have.
const MOST_LINES: usize = 200;
/// How many answers may come before the one that counts, such as `100 Continue`.
const MOST_INTERIM: usize = 8;

/// Why a request was not sent.
#[derive(Debug, thiserror::Error)]
enum BrokerError {
    #[error("the request is a {0}, which would show the secret to whoever asked; nothing was sent")]
    Mirror(String),
    #[error(
        "the header {0} is shown and logged by servers, so no secret is put into it and nothing \
         was sent; use Authorization, or a header whose name says token, key or secret"
    )]
    Misplaced(String),
    #[error("{0}")]
    Connection(#[from] OpenConnectionError),
    #[error(
        "the credential {name} could not be lent, because {reason}, and nothing was sent; \
         `tillerman doctor` says more"
    )]
    Secret { name: String, reason: String },
    #[error("{host} could not be spoken to over HTTPS, so nothing was sent: {source}")]
    Handshake { host: String, source: HandshakeError },
}

impl BrokerError {
    const fn status(&self) -> &'static str {
        match self {
            Self::Mirror(_) | Self::Misplaced(_) => "400 Bad Request",
            Self::Connection(OpenConnectionError::Refused(_)) => "403 Forbidden",
            Self::Connection(OpenConnectionError::Unreachable { .. })
            | Self::Secret { .. }
            | Self::Handshake { .. } => "502 Bad Gateway",
        }
    }
}

/// A server that is who it should be, and what to say to it.
struct Ready {
    server: TlsStream<TcpStream>,
    head: String,
    echoes: Vec<Echo>,
}

/// Serves one request of which `rest` has been read beyond the head.
pub(crate) async fn serve(
    client: UnixStream,
    rest: Vec<u8>,
    request: &Request,
    service: &Service,
    gate: &Gate,
) -> io::Result<()> {
    match prepare(request, service, gate).await {
        Ok(ready) => carry(client, rest, request, ready, gate).await,
        Err(error) => refuse(client, error.status(), &error.to_string()).await,
    }
}

/// Connects, and only then asks for secrets: a host that cannot be reached costs none.
async fn prepare(request: &Request, service: &Service, gate: &Gate) -> Result<Ready, BrokerError> {
    if matches!(request.method.as_str(), "TRACE" | "TRACK") {
        return Err(BrokerError::Mirror(request.method.clone()));
    }
    let wanted = wanted(request, service, gate)?;
    let stream = gate.open(&service.host.to_string(), service.port).await?;
    let handshake = gate.broker.tls.connect(&service.host, stream).await;
    let server =
        handshake.map_err(|source| BrokerError::Handshake { host: service.authority(), source })?;
    let mut swaps = Vec::new();
    for index in wanted {
        let Some(loan) = gate.broker.loans.get(index) else { continue };
        let failed = |reason| BrokerError::Secret { name: loan.credential.name.clone(), reason };
        let secret = timeout(SECRET_WAIT, loan.credential.source.reveal()).await;
        let secret = secret.map_err(|_| failed("its source did not answer".to_owned()))?;
        swaps.push(Swap { sentinel: &loan.sentinel, secret: secret.map_err(failed)? });
    }
    let mut echoes = Vec::new();
    let mut headers = Vec::new();
    for (name, value) in &request.headers {
        let (value, sent) = rewriting::swapped(value, &swaps);
        echoes.extend(sent);
        headers.push((name.as_str(), value));
    }
    let headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
    let head = request.head(&service.authority(), headers);
    // The longest first, so that one which holds another is found whole.
    echoes.sort_by_key(|echo| std::cmp::Reverse(echo.sent.len()));
    Ok(Ready { server, head, echoes })
}

/// The loans whose secrets a request asks for.
fn wanted(request: &Request, service: &Service, gate: &Gate) -> Result<Vec<usize>, BrokerError> {
    let mut wanted = Vec::new();
    for index in &service.loans {
        let Some(loan) = gate.broker.loans.get(*index) else { continue };
        let asking = request
            .headers
            .iter()
            .filter(|(_, value)| rewriting::value_carries(value, &loan.sentinel));
        let mut asking = asking.peekable();
        if asking.peek().is_some() {
            wanted.push(*index);
        }
        if let Some((name, _)) = asking.find(|(name, _)| !rewriting::is_for_secrets(name)) {
            return Err(BrokerError::Misplaced(name.clone()));
        }
    }
    Ok(wanted)
}

/// Passes on one body and one answer, as long as both ends are there.
async fn carry(
    mut client: UnixStream,
    rest: Vec<u8>,
    request: &Request,
    ready: Ready,
    gate: &Gate,
) -> io::Result<()> {
    let Ready { server, head, echoes } = ready;
    let (from_client, mut to_client) = client.split();
    let mut from_client = BufReader::new(rest.as_slice().chain(from_client));
    let (from_server, mut to_server) = tokio::io::split(server);
    let mut from_server = BufReader::new(from_server);
    let up = async {
        write(&mut to_server, head.as_bytes()).await?;
        pass_on(request.body, &mut from_client, &mut to_server).await
    };
    let down = async {
        answer(&mut from_server, &mut to_client, request, &echoes, gate).await?;
        to_client.shutdown().await.map_err(PassOnError::Write)
    };
    tokio::pin!(up, down);
    // The answer may come, and end, before the body has been sent.
    let answered = tokio::select! {
        sent = &mut up => match sent {
            Err(PassOnError::Read(error)) => return Err(error),
            // A server that has heard enough says why.
            Ok(()) | Err(PassOnError::Write(_)) => down.await,
        },
        answered = &mut down => answered,
    };
    answered.map_err(|(PassOnError::Read(error) | PassOnError::Write(error))| error)
}

/// Passes on the answer that counts, and those that come before it.
async fn answer(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    request: &Request,
    echoes: &[Echo],
    gate: &Gate,
) -> Result<(), PassOnError> {
    for _ in 0..=MOST_INTERIM {
        let lines = read_head(from).await.unwrap_or_default();
        let answer = Answer::read(&lines, &request.method, echoes, &gate.broker.services);
        let Some(answer) = answer else { break };
        write(to, &answer.head).await?;
        if answer.status >= 200 {
            return pass_on(answer.body, from, to).await;
        }
    }
    let why = format!("{} gave no answer that makes sense", request.host);
    write(to, refusal("502 Bad Gateway", &why).as_bytes()).await
}

/// The lines of a head, without the empty one that ends it.
async fn read_head(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Vec<Vec<u8>>, PassOnError> {
    let mut lines = Vec::new();
    while lines.len() < MOST_LINES {
        let line = read_line(from).await?;
        if line.is_empty() {
            return Ok(lines);
        }
        lines.push(line);
    }
    Err(PassOnError::Read(io::Error::new(io::ErrorKind::InvalidData, "the head is too long")))
}
