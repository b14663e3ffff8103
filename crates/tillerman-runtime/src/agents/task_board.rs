//! What goes on in the background of a whole tree, as one list for the host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tillerman_protocol::TaskId;
use tillerman_protocol::frame::{Frame, SystemDetail, TaskSummary};

use crate::session_task::SessionTask;

/// The tasks of every session of a tree, by the agent that keeps them; the root is no agent.
#[derive(Debug, Default)]
pub(crate) struct TaskBoard(Mutex<Lists>);

type Lists = BTreeMap<Option<TaskId>, Vec<TaskSummary>>;

impl TaskBoard {
    /// Replaces the list of one session and shows that of the tree. Lists are shown in the order
    /// in which they came to be, since a host takes the last one for the truth.
    pub(crate) fn post(
        &self,
        keeper: Option<&TaskId>,
        mut tasks: Vec<TaskSummary>,
        show: impl FnOnce(Vec<TaskSummary>),
    ) {
        if let Some(keeper) = keeper {
            for task in &mut tasks {
                task.extra.insert("parent_task_id".to_owned(), json!(keeper));
            }
        }
        let mut lists = self.lists();
        if tasks.is_empty() {
            lists.remove(&keeper.cloned());
        } else {
            lists.insert(keeper.cloned(), tasks);
        }
        show(lists.values().flatten().cloned().collect());
    }

    /// Whether a session has tasks on the board.
    pub(crate) fn lists_any_of(&self, keeper: &TaskId) -> bool {
        self.lists().contains_key(&Some(keeper.clone()))
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionTask {
    /// Shows the tasks of the whole tree in the place of the root's own; returns a frame that is
    /// about something else.
    pub(crate) async fn show_tasks_of_tree(&mut self, frame: Frame) -> Option<Frame> {
        let root = self.agents.as_ref().filter(|agents| agents.own().is_none());
        let tree = root.map(|root| Arc::clone(root.tree()));
        match (frame, tree) {
            (Frame::System(frame), Some(tree))
                if matches!(frame.detail, SystemDetail::BackgroundTasksChanged { .. }) =>
            {
                tree.show_tasks(None, *frame).await;
                None
            }
            (frame, _) => Some(frame),
        }
    }
}
