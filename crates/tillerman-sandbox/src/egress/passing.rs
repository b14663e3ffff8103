//! Bodies on their way: passed on piece by piece, up to where they end and not a byte further.

use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tillerman_ports::BoxFuture;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// A body on its way. What follows it, and could be mistaken for headers, is dropped.
pub(crate) struct Passing {
    body: Incoming,
    /// Hears of every piece.
    progress: Arc<Notify>,
    /// Nothing is asked of the sender before this has ended.
    pub(crate) hold: Option<BoxFuture<()>>,
    /// Whether nothing but the end of the connection says where it ends.
    pub(crate) ends_with_connection: bool,
    /// What carries it, which ends with it.
    _carrier: JoinSet<()>,
}

impl Passing {
    pub(crate) fn new(body: Incoming, progress: &Arc<Notify>, carrier: JoinSet<()>) -> Self {
        let progress = Arc::clone(progress);
        Self { body, progress, hold: None, ends_with_connection: false, _carrier: carrier }
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(hold) = &mut self.hold {
            ready!(hold.as_mut().poll(context));
            self.hold = None;
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.progress.notify_one();
        Poll::Ready(match frame {
            Some(Ok(frame)) => frame.into_data().ok().map(|data| Ok(Frame::data(data))),
            // Many servers hang up without a word of TLS, and nothing else says where this ends.
            Some(Err(error)) if self.ends_with_connection && is_end(&error) => None,
            Some(Err(error)) => Some(Err(error)),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn is_end(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof)
}
