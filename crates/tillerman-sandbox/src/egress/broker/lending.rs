//! Secrets for one request: asked for once its host has shown who it is.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::loans::Service;
use super::rewriting::{self, Echo, Swap};
use super::tls::HandshakeError;
use crate::egress::connect::{Gate, OpenConnectionError};

/// How long a secret may take to be found.
const SECRET_WAIT: Duration = Duration::from_secs(60);

/// Why a request was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LendError {
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

impl LendError {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Mirror(_) | Self::Misplaced(_) => StatusCode::BAD_REQUEST,
            Self::Connection(error) => error.status(),
            Self::Secret { .. } | Self::Handshake { .. } => StatusCode::BAD_GATEWAY,
        }
    }
}

/// Connects over HTTPS, and only then puts secrets into the headers: a host that cannot be reached
/// costs none. Says what must be shown in their place when they come back.
pub(crate) async fn lend(
    request: &mut Parts,
    service: &Service,
    gate: &Gate,
) -> Result<(TlsStream<TcpStream>, Vec<Echo>), LendError> {
    if matches!(request.method.as_str(), "TRACE" | "TRACK") {
        return Err(LendError::Mirror(request.method.to_string()));
    }
    let wanted = wanted(request, service, gate)?;
    let stream = gate.open(&service.host.to_string(), service.port).await?;
    let handshake = gate.broker.tls.connect(&service.host, stream).await;
    let server =
        handshake.map_err(|source| LendError::Handshake { host: service.authority(), source })?;
    let mut swaps = Vec::new();
    for index in wanted {
        let Some(loan) = gate.broker.loans.get(index) else { continue };
        let failed = |reason| LendError::Secret { name: loan.credential.name.clone(), reason };
        let secret = timeout(SECRET_WAIT, loan.credential.source.reveal()).await;
        let secret = secret.map_err(|_| failed("its source did not answer".to_owned()))?;
        swaps.push(Swap { sentinel: &loan.sentinel, secret: secret.map_err(failed)? });
    }
    let mut echoes = Vec::new();
    for value in request.headers.values_mut() {
        let (swapped, sent) = rewriting::swapped(&rewriting::text(value), &swaps);
        if !sent.is_empty()
            && let Ok(mut swapped) = HeaderValue::try_from(swapped)
        {
            swapped.set_sensitive(true);
            *value = swapped;
        }
        echoes.extend(sent);
    }
    // The longest first, so that one which holds another is found whole.
    echoes.sort_by_key(|echo| std::cmp::Reverse(echo.sent.len()));
    Ok((server, echoes))
}

/// The loans whose secrets a request asks for.
fn wanted(request: &Parts, service: &Service, gate: &Gate) -> Result<Vec<usize>, LendError> {
    let mut wanted = Vec::new();
    for index in &service.loans {
        let Some(loan) = gate.broker.loans.get(*index) else { continue };
        let asking = request
            .headers
            .iter()
            .filter(|(_, value)| rewriting::value_carries(&rewriting::text(value), &loan.sentinel));
        let mut asking = asking.peekable();
        if asking.peek().is_some() {
            wanted.push(*index);
        }
        if let Some((name, _)) = asking.find(|(name, _)| !rewriting::is_for_secrets(name.as_str()))
        {
            return Err(LendError::Misplaced(as_written(name)));
        }
    }
    Ok(wanted)
}

/// A name with capitals where people write them.
fn as_written(name: &HeaderName) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    name.as_str().split('-').map(capital).collect::<Vec<_>>().join("-")
}
