//! Which agent a host's answer is for: agents ask the host themselves, under ids of their own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillerman_protocol::frame::Frame;
use tillerman_protocol::{RequestId, TaskId};
use tokio::sync::mpsc;

use crate::session_task::Inbound;

/// The way to a session.
pub(crate) type Line = mpsc::Sender<Inbound>;

/// Who waits for which answer, and who keeps which task.
#[derive(Debug, Default)]
pub(crate) struct Switchboard(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    requests: HashMap<RequestId, Line>,
    tasks: HashMap<TaskId, Line>,
}

impl Switchboard {
    /// An agent asks the host something.
    pub(crate) fn put(&self, request: RequestId, line: Line) {
        self.lines().requests.insert(request, line);
    }

    /// The agent does not want the answer any more.
    pub(crate) fn forget(&self, request: &RequestId) {
        self.lines().requests.remove(request);
    }

    /// An agent keeps a task that hosts may want to stop.
    pub(crate) fn put_task(&self, task: TaskId, line: Line) {
        self.lines().tasks.insert(task, line);
    }

    pub(crate) fn forget_task(&self, task: &TaskId) {
        self.lines().tasks.remove(task);
    }

    /// Passes an answer of the host on; says whether anybody waited for it.
    pub(crate) fn answer(&self, request: &RequestId, frame: Frame) -> bool {
        let line = self.lines().requests.remove(request);
        line.is_some_and(|line| tell(&line, frame))
    }

    /// Passes a request about a task on; says whether anybody keeps that task.
    pub(crate) fn about_task(&self, task: &TaskId, frame: Frame) -> bool {
        let line = self.lines().tasks.get(task).cloned();
        line.is_some_and(|line| tell(&line, frame))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never waits: a session that waited for one below it, which may wait for it, would stand still.
fn tell(line: &Line, frame: Frame) -> bool {
    let told = line.try_send(Inbound::Frame(Box::new(frame))).is_ok();
    if !told {
        tracing::warn!("an agent is too busy, or gone, and did not hear the host");
    }
    told
}
