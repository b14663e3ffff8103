//! The background commands of a session, those that run and those that have ended.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_protocol::TaskId;
use tillerman_protocol::task::{TaskEnd, TaskStatus};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How many tasks are remembered; beyond that those that ended longest ago are forgotten.
const REMEMBERED: usize = 1_000;

/// One background command.
#[derive(Debug)]
pub(crate) struct Task {
    /// Names it.
    pub(crate) id: TaskId,
    /// The text for the shell.
    pub(crate) command: String,
    /// One line about it.
    pub(crate) description: String,
    /// Where its output goes.
    pub(crate) output_file: PathBuf,
    /// Ends it.
    pub(crate) cancel: CancellationToken,
    progress: watch::Sender<Option<Ended>>,
}

/// How a task ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// How, in one line.
    pub(crate) end: TaskEnd,
    /// The exit code, when it ended by itself.
    pub(crate) exit_code: Option<i32>,
}

impl Task {
    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.progress.borrow().clone()
    }

    /// Waits for its end.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn wait(&self) {
        // The sender lives in the task itself, so it cannot be gone.
        self.progress.subscribe().wait_for(Option::is_some).await.ok();
    }
}

/// Reports the end of a task, even when its work is dropped on the way.
#[derive(Debug)]
pub(crate) struct Running {
    task: Arc<Task>,
}

impl Running {
    pub(crate) fn new(task: Arc<Task>) -> Self {
        Self { task }
    }

    pub(crate) fn end(self, end: TaskEnd, exit_code: Option<i32>) {
        self.task.progress.send_replace(Some(Ended { end, exit_code }));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.progress.send_if_modified(|progress| {
            let vanished = progress.is_none();
            if vanished {
                let summary = "It was stopped together with the session.".to_owned();
                let end = TaskEnd::new(TaskStatus::Stopped, summary);
                *progress = Some(Ended { end, exit_code: None });
            }
            vanished
        });
    }
}

/// The tasks of one session.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    tasks: Mutex<Vec<Arc<Task>>>,
}

impl Tasks {
    /// Makes a task under a name of its own, before it starts; the token ends it.
    pub(crate) fn open(
        &self,
        command: &str,
        description: &str,
        cancel: CancellationToken,
        output_file: impl FnOnce(&TaskId) -> PathBuf,
    ) -> Arc<Task> {
        let mut tasks = self.tasks();
        let id = loop {
            let id = random_id();
            if !tasks.iter().any(|task| task.id == id) {
                break id;
            }
        };
        let task = Arc::new(Task {
            output_file: output_file(&id),
            id,
            command: command.to_owned(),
            description: description.to_owned(),
            cancel,
            progress: watch::Sender::new(None),
        });
        tasks.push(Arc::clone(&task));
        if tasks.len() > REMEMBERED
            && let Some(oldest) = tasks.iter().position(|task| task.ended().is_some())
        {
            tasks.remove(oldest);
        }
        task
    }

    /// Removes a task that was never started.
    pub(crate) fn forget(&self, id: &TaskId) {
        self.tasks().retain(|task| task.id != *id);
    }

    /// The task of this name, or a text that says which there are.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Task>, String> {
        let tasks = self.tasks();
        if let Some(task) = tasks.iter().find(|task| task.id.as_str() == id) {
            return Ok(Arc::clone(task));
        }
        let known: Vec<&str> = tasks.iter().rev().take(10).map(|task| task.id.as_str()).collect();
        Err(match known.as_slice() {
            [] => format!("There is no task {id}: no command was started in the background."),
            known => format!("There is no task {id}. The latest ones are {}.", known.join(", ")),
        })
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<Arc<Task>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random_id() -> TaskId {
    use std::hash::{BuildHasher as _, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    TaskId::new(format!("b{:08x}", random as u32))
}
