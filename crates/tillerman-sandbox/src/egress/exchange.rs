//! One request and its answer, over a connection of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::passing::Passing;
use super::unheard::readable_to_the_end;

/// How long a head may be.
pub(crate) const LONGEST_HEAD: usize = 32 * 1024;
/// How many headers a head may have.
pub(crate) const MOST_HEADERS: usize = 200;
/// How long a server may take to say that it wants a body which is only sent then. Many never do.
const CONTINUE_WAIT: Duration = Duration::from_secs(1);
/// How many answers may come before the one that counts, such as `100 Continue`.
const MOST_INTERIM: usize = 8;
/// What concerns one connection only. What follows a body is not passed on, nor is its announcement,
/// and the host is the one of the address.
const HOP_BY_HOP: [&str; 7] =
    ["connection", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// The client sent something that is no body, or not all of it.
    #[error("the body of the request is not whole")]
    Body(#[source] hyper::Error),
    /// The server did not answer, or not in a way that both ends would understand alike.
    #[error("{0} gave no answer that makes sense")]
    Nonsense(String),
}

/// What a server says before its answer.
#[derive(Debug, Default)]
struct Interim {
    count: AtomicUsize,
    /// The server wants the body.
    go_on: Notify,
    /// The server says too much.
    enough: Notify,
}

/// Sends a request to the server at the other end of `stream`, which knows itself by this name.
///
/// # Cancel safety
/// Dropping the future, or the body of the answer, closes the connection.
pub(crate) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    authority: &str,
    request: (Parts, Incoming),
    progress: &Arc<Notify>,
) -> Result<Response<Passing>, ExchangeError> {
    let nonsense = || ExchangeError::Nonsense(authority.to_owned());
    let interim = Arc::new(Interim::default());
    let request = outward(authority, request, progress, &interim).ok_or_else(nonsense)?;
    let connecting = http1::Builder::new()
        .title_case_headers(true)
        .preserve_header_case(true)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .handshake(TokioIo::new(readable_to_the_end(stream)))
        .await;
    let (mut sender, connection) = connecting.map_err(|_| nonsense())?;
    let mut carrier = JoinSet::new();
    carrier.spawn(async move {
        // Both ends hear of a failure through their bodies.
        drop(connection.await);
    });
    let answered = tokio::select! {
        answered = sender.send_request(request) => answered,
        () = interim.enough.notified() => return Err(nonsense()),
    };
    let (mut answer, body) = answered
        .map_err(|error| if error.is_user() { ExchangeError::Body(error) } else { nonsense() })?
        .into_parts();
    if !(200..600).contains(&answer.status.as_u16()) {
        return Err(nonsense());
    }
    let is_framed =
        [CONTENT_LENGTH, TRANSFER_ENCODING].iter().any(|it| answer.headers.contains_key(it));
    answer.headers = end_to_end(&answer.headers).ok_or_else(nonsense)?;
    answer.headers.remove(TRANSFER_ENCODING);
    answer.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer.version = Version::HTTP_11;
    let mut body = Passing::new(body, progress, carrier);
    body.ends_with_connection = !is_framed;
    Ok(Response::from_parts(answer, body))
}

/// The request as the server gets it.
fn outward(
    authority: &str,
    (mut head, body): (Parts, Incoming),
    progress: &Arc<Notify>,
    interim: &Arc<Interim>,
) -> Option<Request<Passing>> {
    let path = head.uri.path_and_query().cloned();
    head.uri = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
    head.version = Version::HTTP_11;
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::try_from(authority).ok()?);
    headers.extend(std::mem::take(&mut head.headers));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // Written anew, since not everybody reads a number with zeros before it alike.
    if let (true, Some(length)) = (headers.contains_key(CONTENT_LENGTH), body.size_hint().exact()) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let waits = headers
        .get(EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    head.headers = headers;
    let mut body = Passing::new(body, progress, JoinSet::new());
    if waits {
        let interim = Arc::clone(interim);
        body.hold = Some(Box::pin(async move {
            drop(timeout(CONTINUE_WAIT, interim.go_on.notified()).await);
        }));
    }
    let mut request = Request::from_parts(head, body);
    let interim = Arc::clone(interim);
    hyper::ext::on_informational(&mut request, move |answer| {
        if answer.status() == StatusCode::CONTINUE {
            interim.go_on.notify_one();
        }
        if interim.count.fetch_add(1, Ordering::Relaxed) >= MOST_INTERIM {
            interim.enough.notify_one();
        }
    });
    Some(request)
}

/// The headers that concern both ends, with what says how the body ends. Nothing when that is unclear:
/// whoever counts differently would see another message in the body.
pub(crate) fn end_to_end(headers: &HeaderMap) -> Option<HeaderMap> {
    let codings: Vec<&HeaderValue> = headers.get_all(TRANSFER_ENCODING).iter().collect();
    let is_chunked = match codings.as_slice() {
        [] => false,
        [coding] if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => true,
        _ => return None,
    };
    let options: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|option| String::from_utf8_lossy(option).trim().to_ascii_lowercase())
        .collect();
    let concerns = |name: &HeaderName| {
        let named = options.iter().any(|option| option == name.as_str());
        !HOP_BY_HOP.contains(&name.as_str()) && !name.as_str().starts_with("proxy-") && !named
    };
    let mut kept = HeaderMap::new();
    for (name, value) in headers.iter().filter(|(name, _)| concerns(name)) {
        // Several that say the same are one.
        if name == CONTENT_LENGTH {
            kept.insert(name, value.clone());
        } else {
            kept.append(name, value.clone());
        }
    }
    if is_chunked {
        kept.remove(CONTENT_LENGTH);
        kept.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    Some(kept)
}
