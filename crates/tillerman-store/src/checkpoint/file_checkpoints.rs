//! The checkpoints of one session, as the port offers them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tillerman_ports::model::BoxFuture;
use tillerman_ports::{CheckpointError, Checkpoints, Extent, Rewound, Taken};
use tillerman_protocol::{EntryId, SessionId};
use tokio::runtime::Handle;

use crate::checkpoint::objects::Room;
use crate::checkpoint::shelf::Shelf;

/// What checkpoints may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointLimits {
    /// The largest file that is kept, in bytes.
    pub file_bytes: u64,
    /// How much is kept for a session, in bytes.
    pub total_bytes: u64,
    /// With more files than this there are no checkpoints.
    pub files: u64,
    /// How many checkpoints can be rewound to.
    pub kept: usize,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { file_bytes: 50 << 20, total_bytes: 2 << 30, files: 1_000_000, kept: 100 }
    }
}

impl CheckpointLimits {
    pub(crate) const fn room(self) -> Room {
        Room { file_bytes: self.file_bytes, total_bytes: self.total_bytes }
    }
}

/// Where the checkpoints of a session lie. Nothing is created.
#[must_use]
pub fn file_history_dir(config_dir: &Path, session: &SessionId) -> PathBuf {
    config_dir.join("file-history").join(session.as_str())
}

/// The checkpoints of one session, in a directory that the first one makes.
#[derive(Clone, Debug)]
pub struct FileCheckpoints {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config_dir: PathBuf,
    session: SessionId,
    limits: CheckpointLimits,
    /// Opened by the first use; only one thread works with it at a time.
    shelf: Mutex<Option<Shelf>>,
}

impl FileCheckpoints {
    /// The checkpoints of a session below a configuration directory. Nothing is created yet.
    #[must_use]
    pub fn new(config_dir: PathBuf, session: SessionId, limits: CheckpointLimits) -> Self {
        let shelf = Mutex::default();
        Self { shared: Arc::new(Shared { config_dir, session, limits, shelf }) }
    }
}

impl Checkpoints for FileCheckpoints {
    fn take(
        &self,
        messages: Vec<EntryId>,
        directories: Vec<PathBuf>,
    ) -> BoxFuture<Result<Taken, CheckpointError>> {
        let shared = Arc::clone(&self.shared);
        let abandoned = Arc::new(AtomicBool::new(false));
        let guard = AbandonOnDrop(Arc::clone(&abandoned));
        let task = off_thread(move || {
            shared.with(|shelf| shelf.take(&messages, &directories, &abandoned))
        });
        Box::pin(async move {
            let taken = task.await;
            drop(guard);
            taken
        })
    }

    fn rewind(
        &self,
        message: EntryId,
        extent: Extent,
    ) -> BoxFuture<Result<Rewound, CheckpointError>> {
        let shared = Arc::clone(&self.shared);
        off_thread(move || shared.with(|shelf| shelf.rewind(&message, extent)))
    }
}

/// Runs work that waits for disks where it holds nobody up. It has begun when this returns.
fn off_thread<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, CheckpointError> + Send + 'static,
) -> BoxFuture<Result<T, CheckpointError>> {
    let Ok(runtime) = Handle::try_current() else {
        return Box::pin(std::future::ready(job()));
    };
    let task = runtime.spawn_blocking(job);
    Box::pin(async move { task.await.unwrap_or(Err(CheckpointError::Abandoned)) })
}

/// Tells a walk that nobody waits for it any more.
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Shelf) -> Result<T, CheckpointError>,
    ) -> Result<T, CheckpointError> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *shelf {
            Some(shelf) => work(shelf),
            closed => {
                work(closed.insert(Shelf::open(&self.config_dir, &self.session, self.limits)?))
            }
        }
    }
}
