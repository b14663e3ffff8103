//! Reads the events of a streamed answer and notices when it falls silent or is cut.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::reply::Reply;
use crate::sse::{SseDecoder, SseEvent};

type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, ModelFailure>> + Send>>;

/// The events of one streamed answer.
pub struct EventReader {
    bytes: ByteStream,
    decoder: SseDecoder,
    idle_timeout: Duration,
}

impl fmt::Debug for EventReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventReader").field("decoder", &self.decoder).finish_non_exhaustive()
    }
}

impl EventReader {
    /// Reads events from bytes; a silence longer than `idle_timeout` is a failure.
    pub fn new(
        bytes: impl Stream<Item = Result<Bytes, ModelFailure>> + Send + 'static,
        idle_timeout: Duration,
    ) -> Self {
        Self { bytes: Box::pin(bytes), decoder: SseDecoder::default(), idle_timeout }
    }

    /// Reads the events of an HTTP answer.
    #[must_use]
    pub fn of_reply(reply: Reply, idle_timeout: Duration) -> Self {
        // What exactly the socket said is of no use to anybody; that it was cut is.
        Self::new(reply.into_stream().map_err(|_| cut()), idle_timeout)
    }

    /// The next event, or nothing when the server ended the stream in good order.
    ///
    /// # Errors
    /// When the connection was cut, fell silent, or sent something too large. Nothing follows an
    /// error.
    ///
    /// # Cancel safety
    /// No event is lost when the future is dropped.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, ModelFailure> {
        loop {
            if let Some(event) = self.decoder.next_event() {
                return Ok(Some(event));
            }
            // Asks again for the failure of an earlier push, whose events had to go first.
            self.decoder.push(&[]).map_err(|error| stream_failure(error.to_string()))?;
            match tokio::time::timeout(self.idle_timeout, self.bytes.next()).await {
                Ok(Some(Ok(chunk))) => {
                    let _reported_above = self.decoder.push(&chunk);
                }
                Ok(Some(Err(failure))) => return Err(failure),
                Ok(None) => return Ok(None),
                Err(_) => return Err(self.silence()),
            }
        }
    }

    fn silence(&self) -> ModelFailure {
        let seconds = self.idle_timeout.as_secs_f64();
        stream_failure(format!(
            "the response stopped arriving: nothing came for {seconds} s, so the connection was closed"
        ))
    }
}

/// The failure of a stream that ended before the response was complete.
#[must_use]
pub fn cut() -> ModelFailure {
    stream_failure("the connection was cut before the response was complete")
}

/// A failure in the middle of a stream.
pub fn stream_failure(message: impl Into<String>) -> ModelFailure {
    ModelFailure::new(FailureKind::Stream, message)
}
