//! The port through which a tool leaves work behind.

use tillerman_protocol::task::{TaskEnd, TaskKind};
use tillerman_protocol::{TaskId, ToolUseId};
use tokio_util::sync::CancellationToken;

use crate::model::BoxFuture;

/// Takes over work that goes on after its call has ended. The session keeps it, shows it to the
/// host, stops it on request, and tells the model when it ends.
pub trait TaskDesk: Send + Sync + std::fmt::Debug {
    /// Takes a task over.
    ///
    /// # Errors
    /// When the session takes no more tasks; the task has not been started then.
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused>;

    /// Tells the session what a task that it has taken has to say while it goes on. Whoever waits
    /// for the future goes no faster than the session listens.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the news untold.
    fn tell(&self, news: TaskNews) -> BoxFuture<()> {
        drop(news);
        Box::pin(std::future::ready(()))
    }

    /// Fires when somebody wants the call to end and its work to go on as a task. A tool asks for
    /// it only while it can do so; nothing means that work which has begun never becomes a task.
    fn let_go(&self) -> Option<CancellationToken> {
        None
    }
}

/// Work that goes on in the background.
pub struct BackgroundTask {
    /// Names the task.
    pub id: TaskId,
    /// The call that started it.
    pub tool_use_id: ToolUseId,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// One line about it.
    pub description: String,
    /// Where its output goes.
    pub output_file: String,
    /// Fires when the task is to end.
    pub cancel: CancellationToken,
    /// The work itself; it ends soon after the token fired.
    pub work: BoxFuture<TaskEnd>,
}

/// What a task has to say while it goes on; the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNews {
    /// The task.
    pub task: TaskId,
    /// What it says, in lines.
    pub text: String,
}

/// The session takes no more tasks.
#[derive(Debug, thiserror::Error)]
#[error("the session takes no more background tasks; stop one first")]
pub struct TaskRefused;

impl std::fmt::Debug for BackgroundTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackgroundTask").field("id", &self.id).finish_non_exhaustive()
    }
}
