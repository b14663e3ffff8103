//! Where tools leave work behind: a bounded queue into the session's own task.

use tillerman_ports::{BackgroundTask, TaskDesk, TaskRefused};
use tokio::sync::mpsc;

/// The desk that tools are given.
#[derive(Clone, Debug)]
pub(crate) struct Desk(pub(crate) mpsc::Sender<BackgroundTask>);

impl TaskDesk for Desk {
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused> {
        self.0.try_send(task).map_err(|_| TaskRefused)
    }
}
