//! Where tools leave work behind: a bounded queue into the session's own task.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tillerman_engine::Input;
use tillerman_ports::{BackgroundTask, BoxFuture, TaskDesk, TaskNews, TaskRefused};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::work::Report;

/// The desk of a session.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) left: mpsc::Sender<BackgroundTask>,
    pub(crate) reporter: mpsc::Sender<Report>,
}

impl TaskDesk for Desk {
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused> {
        self.left.try_send(task).map_err(|_| TaskRefused)
    }

    fn tell(&self, news: TaskNews) -> BoxFuture<()> {
        let reporter = self.reporter.clone();
        Box::pin(async move {
            let spoke = Input::TaskSpoke { task: news.task, text: news.text };
            // Without a receiver the session is over and nobody needs to know.
            reporter.send(Report::Engine(Box::new(spoke))).await.ok();
        })
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

    fn tell(&self, news: TaskNews) -> BoxFuture<()> {
        self.desk.tell(news)
    }

    fn let_go(&self) -> Option<CancellationToken> {
        self.listens.store(true, Ordering::Relaxed);
        Some(self.let_go.clone())
    }
}
