//! The answer of a provider while its body arrives.

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};

use crate::place::Place;

/// An HTTP answer whose head is here. It keeps its place among the running requests until it is
/// dropped.
#[derive(Debug)]
pub struct Reply {
    response: Response,
    _place: Place,
}

impl Reply {
    pub(crate) fn new(response: Response, place: Place) -> Self {
        Self { response, _place: place }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// A header, unless it is missing or no text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the body is a document, where a stream of events was asked for.
    pub(crate) fn is_document(&self) -> bool {
        let media = self.header("content-type").unwrap_or_default();
        media.starts_with("application/json") || media.starts_with("text/html")
    }

    /// The next piece of the body, or nothing at its end.
    ///
    /// # Errors
    /// When the connection was cut.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, reqwest::Error> {
        self.response.chunk().await
    }

    /// The rest of the body, piece by piece.
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Bytes, reqwest::Error>> + Send {
        stream::try_unfold(self, async |mut reply| {
            Ok(reply.chunk().await?.map(|chunk| (chunk, reply)))
        })
    }
}
