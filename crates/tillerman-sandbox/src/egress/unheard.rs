//! Writing to a server that may have heard enough.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, join, split};

/// A writer that, once it fails, only waits: a server that has heard enough hangs up and says why,
/// and what it said can still be read. That it says nothing more is noticed there as well.
#[derive(Debug)]
struct Unheard<W> {
    writer: W,
    is_hung_up: bool,
}

/// The same stream, with failures that only those who read hear of.
pub(crate) fn readable_to_the_end(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> impl AsyncRead + AsyncWrite + Unpin + Send + 'static {
    let (reader, writer) = split(stream);
    join(reader, Unheard { writer, is_hung_up: false })
}

impl<W: AsyncWrite + Unpin> Unheard<W> {
    fn attempt<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut W>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.is_hung_up {
            return Poll::Pending;
        }
        match write(Pin::new(&mut self.writer), context) {
            Poll::Ready(Err(_)) => {
                self.is_hung_up = true;
                // What can be read may have come since somebody last looked.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            done => done,
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Unheard<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.attempt(context, |writer, context| writer.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.attempt(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}
