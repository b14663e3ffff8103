//! The port to language models.

use std::pin::Pin;

use futures_core::Stream;
use tillerman_protocol::model::{ModelEvent, ModelFailure, ModelRequest};

/// A stream of events that ends by itself.
pub type EventStream = Pin<Box<dyn Stream<Item = ModelEvent> + Send>>;
/// A future on the heap.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A language model that streams Anthropic-shaped events. One call is one attempt: whether to
/// repeat a failed one is the engine's decision.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// Answers a request.
    ///
    /// The stream ends after `MessageStop` or after one [`ModelEvent::Failed`], whichever comes
    /// first; a stream that ends without either was cut off.
    ///
    /// # Cancel safety
    /// Dropping the stream cancels the request and closes its connection.
    fn respond(&self, request: ModelRequest) -> EventStream;

    /// Counts the tokens a request would use, where the provider can tell.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    fn count_tokens(&self, request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>>;
}
