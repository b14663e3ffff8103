//! Callbacks behind pointers.

use std::sync::Arc;

use tillerman_ports::BoxFuture;

/// A callback that is asked something and answers in its own time.
pub(crate) type Ask<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<A> + Send + Sync>;

/// Puts an async closure behind a pointer.
pub(crate) fn ask<Q, A, F, Answering>(callback: F) -> Ask<Q, A>
where
    F: Fn(Q) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = A> + Send + 'static,
{
    Arc::new(move |question| Box::pin(callback(question)))
}
