//! The way to authorization servers: every request goes over TLS or stays on this machine.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::CONTENT_TYPE;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use tokio::time::timeout;

use crate::transport::http::{self, ClientError};

/// How long an authorization server may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How large its answers may be.
const LONGEST: usize = 1024 * 1024;

/// Why an authorization server could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    #[error("{0} is neither https:// nor on this machine, so no token was sent there")]
    Insecure(String),
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("it cannot be reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    TooSlow,
    #[error("its answer is longer than {LONGEST} bytes")]
    TooLong,
    #[error("its answer is not HTTP: {0}")]
    Odd(#[from] ::http::Error),
}

/// Whether tokens may be sent to this address.
pub(crate) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && http::is_loopback(url))
}

/// Asks authorization servers. Redirects are never followed: they would carry codes and tokens to
/// servers that no metadata named.
pub(crate) struct Door;

impl OAuthHttpClient for Door {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answer = timeout(PATIENCE, ask(request)).await;
            Ok(answer.map_err(|_| DoorError::TooSlow)??)
        })
    }
}

async fn ask(asked: OAuthHttpRequest) -> Result<::http::Response<Vec<u8>>, DoorError> {
    let request = reqwest::Request::try_from(asked.request)?;
    if !is_safe(request.url()) {
        return Err(DoorError::Insecure(request.url().to_string()));
    }
    let client = http::client(request.url().as_str()).await?;
    let mut response = client.execute(request).await?;
    let mut answer = ::http::Response::builder().status(response.status());
    for (name, value) in response.headers() {
        answer = answer.header(name, value);
    }
    let mut body = Vec::new();
    // A server that needs no token may answer the first question with a stream that never ends.
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    while !is_stream && let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > LONGEST {
            return Err(DoorError::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(answer.body(body)?)
}
