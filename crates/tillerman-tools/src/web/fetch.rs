//! Getting one page, within limits, from where it says it is.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, StatusCode, Url};
use tokio_util::sync::CancellationToken;

use super::connection::{ConnectError, Connection, Unreachable, literal};
use crate::config::Reach;

const MOST_BYTES: usize = 10 << 20;
const MOST_REDIRECTS: usize = 5;
const LONGEST: Duration = Duration::from_secs(30);
const LONGEST_URL: usize = 2_000;
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1";

/// What came back.
#[derive(Debug)]
pub(super) enum Fetched {
    /// A page.
    Page(Body),
    /// The way to another host, which nobody has approved yet.
    Elsewhere { status: StatusCode, to: Url },
}

/// A page as it came.
#[derive(Debug)]
pub(super) struct Body {
    /// Where it was in the end.
    pub(super) url: Url,
    /// What the server said about it.
    pub(super) status: StatusCode,
    /// Its media type with parameters.
    pub(super) content_type: String,
    /// The content.
    pub(super) bytes: Vec<u8>,
}

/// Why a page could not be fetched. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    /// The URL cannot be used.
    #[error("{0}")]
    Url(String),
    /// The address must not be reached.
    #[error("{0}")]
    Unreachable(#[from] Unreachable),
    /// No client could be made.
    #[error("{0}")]
    Connect(#[from] ConnectError),
    /// The server could not be reached or broke off.
    #[error("{0}")]
    Transport(String),
    /// The server sent people round in circles.
    #[error("it redirects more than {MOST_REDIRECTS} times")]
    Circles,
    /// The page is too large.
    #[error("it is larger than {} MB", MOST_BYTES >> 20)]
    TooLarge,
    /// The server took too long.
    #[error("it did not come within {} seconds", LONGEST.as_secs())]
    TooSlow,
    /// The call was interrupted.
    #[error("the call was interrupted")]
    Interrupted,
}

/// Reads a URL as people write it and refuses those that nothing good can come of.
pub(super) fn parse_url(text: &str) -> Result<Url, FetchError> {
    let bad = |why: &str| Err(FetchError::Url(why.to_owned()));
    if text.len() > LONGEST_URL {
        return bad("the URL is longer than 2000 characters");
    }
    let Ok(url) = Url::parse(text.trim()) else {
        return bad(
            "the URL is not valid; it must be a whole one such as https://example.com/page",
        );
    };
    if !matches!(url.scheme(), "http" | "https") {
        return bad("only http and https URLs can be fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return bad("the URL holds a user name or password, which is not sent anywhere");
    }
    if !url.has_host() {
        return bad("the URL names no host");
    }
    Ok(url)
}

/// The URL with encryption, except for this machine's own where that may be reached.
pub(super) fn upgraded(mut url: Url, reach: Reach) -> Url {
    let own = url.host_str() == Some("localhost")
        || literal(&url).is_some_and(|address| address.to_canonical().is_loopback());
    if url.scheme() == "http" && !(own && reach == Reach::PublicAndLoopback) {
        // Neither can fail for a URL that has a host.
        let _changed = url.set_scheme("https").is_ok();
        if url.port() == Some(80) {
            let _changed = url.set_port(None).is_ok();
        }
    }
    url
}

/// Fetches a page.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub(super) async fn fetch(
    connection: &Arc<Connection>,
    url: Url,
    cancel: &CancellationToken,
) -> Result<Fetched, FetchError> {
    // Making the client reads files, which must not hold up other sessions.
    let prepared = Arc::clone(connection);
    let prepare = tokio::task::spawn_blocking(move || prepared.client().map(drop));
    prepare.await.map_err(|error| FetchError::Transport(error.to_string()))??;
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(FetchError::Interrupted),
        fetched = tokio::time::timeout(LONGEST, follow(connection, url)) => {
            fetched.unwrap_or(Err(FetchError::TooSlow))
        }
    }
}

async fn follow(connection: &Connection, mut url: Url) -> Result<Fetched, FetchError> {
    for _ in 0..=MOST_REDIRECTS {
        connection.check_literal(&url)?;
        let request = connection.client()?.get(url.clone()).header(ACCEPT, ACCEPTED);
        let response = request.send().await.map_err(transport)?;
        let status = response.status();
        let Some(target) = redirect_target(&response, &url) else {
            return body(response, url).await.map(Fetched::Page);
        };
        let target = parse_url(target?.as_str())?;
        let target = upgraded(target, connection.reach());
        if !is_same_host(&url, &target) {
            return Ok(Fetched::Elsewhere { status, to: target });
        }
        url = target;
    }
    Err(FetchError::Circles)
}

fn redirect_target(response: &Response, url: &Url) -> Option<Result<Url, FetchError>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    Some(url.join(location).map_err(|_| FetchError::Url("it redirects to no valid URL".to_owned())))
}

/// Whether two URLs lie on one host; with and without `www.` is the same.
fn is_same_host(one: &Url, other: &Url) -> bool {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    host(one) == host(other) && one.port_or_known_default() == other.port_or_known_default()
}

async fn body(mut response: Response, url: Url) -> Result<Body, FetchError> {
    if response.content_length().is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(FetchError::TooLarge);
    }
    let status = response.status();
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.to_owned();
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(transport)? {
        if bytes.len() + piece.len() > MOST_BYTES {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Body { url, status, content_type, bytes })
}

/// What went wrong on the way, without the URL, which may hold a key.
fn transport(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let mut reasons = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(unreachable) = cause.downcast_ref::<Unreachable>() {
            return FetchError::Transport(unreachable.to_string());
        }
        reasons.push(cause.to_string());
        source = cause.source();
    }
    reasons.dedup();
    FetchError::Transport(format!("the connection failed: {}", reasons.join(": ")))
}
