//! Where tools leave work behind: a bounded queue into the session's own task.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tillerman_ports::{BackgroundTask, TaskDesk, TaskRefused};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The desk of a session.
#[derive(Clone, Debug)]
pub(crate) struct Desk(pub(crate) mpsc::Sender<BackgroundTask>);

impl TaskDesk for Desk {
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused> {
        self.0.try_send(task).map_err(|_| TaskRefused)
    }
}

/// The desk as a call sees it that may go on in the background.
#[derive(Debug)]
pub(crate) struct CallDesk {
    desk: Arc<Desk>,
    let_go: CancellationToken,
    listens: AtomicBool,
}

impl CallDesk {
    pub(crate) fn new(desk: Arc<Desk>) -> Self {
        Self { desk, let_go: CancellationToken::new(), listens: AtomicBool::new(false) }
    }

    /// Has the call go on in the background; says whether its tool can do that.
    pub(crate) fn release(&self) -> bool {
        let listens = self.listens.load(Ordering::Relaxed);
        if listens {
            self.let_go.cancel();
        }
        listens
    }
}

impl TaskDesk for CallDesk {
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused> {
        self.desk.take(task)
    }

    fn let_go(&self) -> Option<CancellationToken> {
        self.listens.store(true, Ordering::Relaxed);
        Some(self.let_go.clone())
    }
}
