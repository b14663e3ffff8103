//! How many requests to models a process has under way at once.
//!
//! Every request takes a connection, and connections are files to the system. A process with very
//! many sessions lets requests wait instead of failing for want of files, be it here or in a tool.

use std::sync::LazyLock;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Which part of the files that the process may open goes to connections with models. The rest is
/// for transcripts, tools and clients.
const SHARE_OF_FILES: u64 = 4;
/// Fewer places than this would hold up a single session with its agents.
const FEWEST: usize = 16;

/// The limit belongs to the process, and so do the places, whichever provider they are used for.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let files = getrlimit(Resource::Nofile).current;
    let share =
        files.map_or(Ok(Semaphore::MAX_PERMITS), |files| (files / SHARE_OF_FILES).try_into());
    Semaphore::new(share.unwrap_or(Semaphore::MAX_PERMITS).clamp(FEWEST, Semaphore::MAX_PERMITS))
});

/// The right to have one request under way, until it is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: Option<SemaphorePermit<'static>>,
}

impl Place {
    /// Waits until one more request may be under way.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the place in the queue.
    pub async fn take() -> Self {
        // The semaphore is never closed.
        Self { _permit: PLACES.acquire().await.ok() }
    }
}
