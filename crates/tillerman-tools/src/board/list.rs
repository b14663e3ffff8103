//! The tasks of a list and what may become of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The member that may do anything with every task.
pub(crate) const LEAD: &str = "team-lead";

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) active_form: Option<String>,
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    /// The tasks that must be completed first.
    pub(crate) blocked_by: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl Status {
    pub(crate) const NAMES: [&'static str; 4] = ["pending", "in_progress", "completed", "deleted"];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(Value::String(name.to_owned())).ok()
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Deleted => "deleted",
        }
    }
}

/// All tasks, also those that were deleted, so that no id comes twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    tasks: Vec<Task>,
}

impl List {
    /// Takes a task in, in place of an earlier state of it.
    pub(crate) fn put(&mut self, task: Task) {
        match self.tasks.iter_mut().find(|held| held.id == task.id) {
            Some(held) => *held = task,
            None => self.tasks.push(task),
        }
    }

    pub(crate) fn next_id(&self) -> String {
        let newest = self.tasks.iter().filter_map(|task| task.id.parse::<u64>().ok()).max();
        (newest.unwrap_or(0) + 1).to_string()
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Task> {
        self.iter().find(|task| task.id == id)
    }

    /// The tasks that were not deleted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.status != Status::Deleted)
    }

    /// The tasks that a task still waits for.
    pub(crate) fn open_blockers(&self, task: &Task) -> Vec<String> {
        let is_open =
            |id: &&String| self.find(id).is_some_and(|blocker| blocker.status != Status::Completed);
        task.blocked_by.iter().filter(is_open).cloned().collect()
    }

    /// The tasks that wait for a task.
    pub(crate) fn blocked_by(&self, id: &str) -> Vec<String> {
        let waits = |task: &&Task| task.blocked_by.iter().any(|blocker| blocker == id);
        self.iter().filter(waits).map(|task| task.id.clone()).collect()
    }

    /// Whether one task waits for another, directly or not.
    pub(crate) fn waits_for(&self, waiting: &str, awaited: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut ahead = vec![waiting];
        while let Some(id) = ahead.pop() {
            if id == awaited {
                return true;
            }
            if !seen.contains(&id) {
                seen.push(id);
                let blockers = self.find(id).map(|task| task.blocked_by.as_slice());
                ahead.extend(blockers.unwrap_or_default().iter().map(String::as_str));
            }
        }
        false
    }
}
