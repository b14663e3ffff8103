//! Work in the background: shown to the host, told to the model when it ends.

use serde_json::Map;
use tillerman_protocol::TaskId;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{
    SystemDetail, TaskNotification, TaskPatch, TaskStarted, TaskSummary, TaskUpdated,
};
use tillerman_protocol::hook::BackgroundWork;
use tillerman_protocol::task::{TaskEnd, TaskStatus};

use crate::calls::TimerId;
use crate::effect::Effect;
use crate::input::{Author, Prompt, TaskStart};
use crate::session::{Door, Session};

/// How long commands may go on once nobody can hear of them any more.
const LINGER_MS: u64 = 5_000;

/// The tasks of a session.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: Vec<TaskStart>,
    /// Runs while the input is closed and nothing but tasks is left.
    linger: Option<TimerId>,
    /// Whether tasks were asked to stop already.
    stopping: bool,
}

impl Tasks {
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// What goes on, as hooks are told of it.
    pub(crate) fn in_background(&self) -> Vec<BackgroundWork> {
        let work = |task: &TaskStart| BackgroundWork {
            id: task.id.clone(),
            kind: task.kind.name().to_owned(),
            status: "running".to_owned(),
            description: task.description.clone(),
        };
        self.running.iter().map(work).collect()
    }
}

impl Session {
    pub(crate) fn task_started(&mut self, task: TaskStart) {
        self.emit_system(SystemDetail::TaskStarted(Box::new(TaskStarted {
            task_id: task.id.clone(),
            description: task.description.clone(),
            tool_use_id: Some(task.tool_use_id.clone()),
            task_type: Some(task.kind.name().to_owned()),
            subagent_type: None,
            is_backgrounded: Some(true),
            prompt: None,
            extra: Map::new(),
        })));
        self.tasks.running.push(task);
        // The newcomer gets its moment too, whatever the others were told.
        self.tasks.stopping = false;
        self.emit_tasks();
    }

    pub(crate) fn task_ended(&mut self, id: &TaskId, end: &TaskEnd) {
        let Some(index) = self.tasks.running.iter().position(|task| task.id == *id) else { return };
        let task = self.tasks.running.remove(index);
        let stopped = end.status == TaskStatus::Stopped;
        let patch = TaskPatch {
            status: Some(if stopped { "killed" } else { end.status.name() }.to_owned()),
            end_time: Some(self.now.as_millis()),
            ..TaskPatch::default()
        };
        self.emit_system(SystemDetail::TaskUpdated(TaskUpdated {
            task_id: task.id.clone(),
            patch,
        }));
        self.emit_system(SystemDetail::TaskNotification(Box::new(TaskNotification {
            task_id: task.id.clone(),
            status: end.status.name().to_owned(),
            output_file: task.output_file.clone(),
            summary: end.summary.clone(),
            tool_use_id: Some(task.tool_use_id.clone()),
            usage: None,
            extra: Map::new(),
        })));
        self.emit_tasks();
        // Whoever stopped a task knows that it ended; the model hears of the others.
        if !stopped {
            self.queue.push_back(notification(&task, end));
        }
    }

    /// Nobody can send anything any more and only tasks are left: commands get a moment to end.
    pub(crate) fn wait_for_tasks(&mut self) {
        if self.tasks.linger.is_none() {
            let timer = TimerId(self.next());
            self.tasks.linger = Some(timer);
            self.effects.push(Effect::StartTimer { timer, after_ms: LINGER_MS });
        }
    }

    /// The moment is over: tasks are stopped, and after a second one left to themselves. Says
    /// whether the timer was this one.
    pub(crate) fn linger_over(&mut self, timer: TimerId) -> bool {
        if self.tasks.linger != Some(timer) {
            return false;
        }
        self.tasks.linger = None;
        if self.round.is_some() || self.door != Door::Closed {
            return true;
        }
        if self.tasks.stopping {
            self.end();
        } else {
            self.tasks.stopping = true;
            let tasks = self.tasks.running.iter().map(|task| task.id.clone());
            self.effects.extend(tasks.map(|task| Effect::StopTask { task }));
            self.wait_for_tasks();
        }
        true
    }

    /// Tasks do not outlive a session.
    pub(crate) fn drop_tasks(&mut self) {
        if let Some(timer) = self.tasks.linger.take() {
            self.effects.push(Effect::CancelTimer { timer });
        }
        for task in std::mem::take(&mut self.tasks.running) {
            self.effects.push(Effect::StopTask { task: task.id });
        }
    }

    fn emit_tasks(&mut self) {
        let summary = |task: &TaskStart| TaskSummary {
            task_id: task.id.clone(),
            task_type: task.kind.name().to_owned(),
            description: task.description.clone(),
            extra: Map::new(),
        };
        let tasks = self.tasks.running.iter().map(summary).collect();
        self.emit_system(SystemDetail::BackgroundTasksChanged { tasks });
    }
}

fn notification(task: &TaskStart, end: &TaskEnd) -> Prompt {
    let text = format!(
        "<task-notification>\nThe background task {} ({}) has {}: {}\nIts output is in {}.\n</task-notification>",
        task.id,
        task.description,
        end.status.name(),
        end.summary,
        task.output_file
    );
    Prompt { author: Author::Engine, ..Prompt::new(Content::Text(text)) }
}
