//! Work that goes on beside the conversation: shown to the host, told to the model when it ends.

use serde_json::{Map, Value, json};
use tillerman_protocol::TaskId;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{
    SessionState, SystemDetail, TaskNotification, TaskPatch, TaskStarted, TaskSummary, TaskUpdated,
};
use tillerman_protocol::hook::BackgroundWork;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::ToolOutcome;

use crate::calls::{CallState, TimerId};
use crate::effect::Effect;
use crate::input::{Author, Place, Prompt, TaskStart};
use crate::session::{Door, Session};

/// How long commands may go on once nobody can hear of them any more.
const LINGER_MS: u64 = 5_000;

/// The tasks of a session.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: Vec<TaskStart>,
    /// Runs while the session is about to end and nothing but commands is left.
    linger: Option<TimerId>,
    /// Whether tasks were asked to stop already.
    stopping: bool,
}

impl Tasks {
    pub(crate) const fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// A task that is under way.
    pub(crate) fn find(&self, id: &TaskId) -> Option<&TaskStart> {
        self.running.iter().find(|task| task.id == *id)
    }

    /// Whether agents are at work or commands are watched, which are waited for as long as it
    /// takes.
    pub(crate) fn has_awaited(&self) -> bool {
        self.running.iter().any(|task| task.kind != TaskKind::LocalBash)
    }

    /// Whether agents are at work that no call waits for.
    pub(crate) fn has_agents_in_background(&self) -> bool {
        let agent =
            |task: &TaskStart| task.kind == TaskKind::LocalAgent && task.place == Place::Background;
        self.running.iter().any(agent)
    }

    /// What goes on, as hooks are told of it.
    pub(crate) fn in_background(&self) -> Vec<BackgroundWork> {
        let work = |task: &TaskStart| BackgroundWork {
            id: task.id.clone(),
            kind: match task.kind {
                TaskKind::LocalBash | TaskKind::Watch => "shell",
                TaskKind::LocalAgent => "subagent",
            }
            .to_owned(),
            status: "running".to_owned(),
            description: task.description.clone(),
            agent_type: task.agent.as_ref().map(|agent| agent.kind.clone()),
        };
        self.running.iter().map(work).collect()
    }
}

impl Session {
    pub(crate) fn task_started(&mut self, task: TaskStart) {
        let agent = task.agent.as_deref();
        let mut extra = Map::new();
        if let Some(agent) = agent {
            extra.insert("spawn_depth".to_owned(), json!(agent.depth));
            let parent = agent.parent.iter();
            extra.extend(parent.map(|parent| ("parent_task_id".to_owned(), json!(parent))));
        }
        self.emit_system(SystemDetail::TaskStarted(Box::new(TaskStarted {
            task_id: task.id.clone(),
            description: task.description.clone(),
            tool_use_id: Some(task.tool_use_id.clone()),
            task_type: Some(task.kind.name().to_owned()),
            subagent_type: agent.map(|agent| agent.kind.clone()),
            is_backgrounded: Some(task.place == Place::Background),
            prompt: agent.map(|agent| agent.prompt.clone()),
            extra,
        })));
        let (id, place) = (task.id.clone(), task.place);
        let has_agent = agent.is_some();
        self.tasks.running.push(task);
        // The newcomer gets its moment too, whatever the others were told.
        self.tasks.stopping = false;
        if place == Place::Background {
            self.emit_tasks();
        }
        if has_agent {
            self.effects.push(Effect::StartTask { task: id });
        }
    }

    /// Lets a call go on without the work it waits for. A call that has ended by now has nothing
    /// to be told, and whoever ended it knows of the task.
    pub(crate) fn task_backgrounded(&mut self, id: &TaskId, outcome: ToolOutcome) {
        let Some(task) = self.tasks.running.iter_mut().find(|task| task.id == *id) else { return };
        let tool_use_id = task.tool_use_id.clone();
        let calls = self.round.iter().flat_map(|round| round.calls.iter());
        let mut waiting = calls.filter(|call| {
            call.tool_use_id == tool_use_id && matches!(call.state, CallState::Running)
        });
        let Some(call) = waiting.next().map(|call| call.id) else { return };
        if task.place == Place::Background {
            return;
        }
        task.place = Place::Background;
        let mut patch = TaskPatch::default();
        patch.extra.insert("is_backgrounded".to_owned(), Value::Bool(true));
        self.emit_system(SystemDetail::TaskUpdated(TaskUpdated { task_id: id.clone(), patch }));
        self.emit_tasks();
        self.tool_ended(call, outcome);
    }

    pub(crate) fn task_ended(&mut self, id: &TaskId, end: &TaskEnd) {
        let Some(index) = self.tasks.running.iter().position(|task| task.id == *id) else { return };
        let task = self.tasks.running.remove(index);
        let denials = end.report.iter().flat_map(|report| report.denials.iter().cloned());
        self.with_round(|round| round.denials.extend(denials));
        let stopped = end.status == TaskStatus::Stopped;
        let patch = TaskPatch {
            status: Some(if stopped { "killed" } else { end.status.name() }.to_owned()),
            end_time: Some(self.now.as_millis()),
            error: (end.status == TaskStatus::Failed).then(|| end.summary.clone()),
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
            summary: outcome_of(end),
            tool_use_id: Some(task.tool_use_id.clone()),
            usage: end
                .report
                .as_ref()
                .filter(|_| task.kind == TaskKind::LocalAgent)
                .map(|report| report.usage),
            extra: Map::new(),
        })));
        if task.place == Place::Foreground {
            // Its call tells the model.
            return;
        }
        self.emit_tasks();
        // Whoever stopped a task knows that it ended; the model hears of the others.
        if !stopped {
            self.queue.push_back(notification(&task, end));
            return;
        }
        if !self.tasks.stopping {
            self.record_stop(&task.id);
        }
        let rests = self.round.is_none() && self.queue.is_empty();
        let was_agent = task.kind == TaskKind::LocalAgent;
        if rests && was_agent && !self.tasks.has_agents_in_background() {
            self.emit_state(SessionState::Idle);
        }
    }

    /// Whether the session ends once nothing is left to do: nobody can say anything any more, or
    /// it is an agent that has done what it was asked.
    pub(crate) fn is_leaving(&self) -> bool {
        self.door == Door::Closed || (self.config.agent.is_some() && self.has_answered)
    }

    /// The session is about to end and only tasks are left: commands get a moment, agents and
    /// commands that are watched get all the time they need.
    pub(crate) fn wait_for_tasks(&mut self) {
        if self.tasks.linger.is_none() && !self.tasks.has_awaited() {
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
        if self.round.is_some() || !self.is_leaving() || self.tasks.has_awaited() {
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
            extra: task
                .agent
                .iter()
                .map(|agent| ("subagent_type".to_owned(), json!(agent.kind)))
                .collect(),
        };
        let in_background = |task: &&TaskStart| task.place == Place::Background;
        let tasks = self.tasks.running.iter().filter(in_background).map(summary).collect();
        self.emit_system(SystemDetail::BackgroundTasksChanged { tasks });
    }
}

/// What came of a task, for hosts: the report of an agent that did its work, else the line.
fn outcome_of(end: &TaskEnd) -> String {
    let report = end.report.as_ref().filter(|_| end.status == TaskStatus::Completed);
    let text = report.map(|report| report.text.trim()).filter(|text| !text.is_empty());
    text.unwrap_or(&end.summary).to_owned()
}

fn notification(task: &TaskStart, end: &TaskEnd) -> Prompt {
    let result = end.report.as_ref().filter(|report| !report.text.trim().is_empty());
    let result =
        result.map_or_else(String::new, |report| format!("\n<result>\n{}\n</result>", report.text));
    let text = format!(
        "<task-notification>\nThe background task {} ({}) has {}: {}\nIts output is in {}.{result}\n</task-notification>",
        task.id,
        task.description,
        end.status.name(),
        end.summary,
        task.output_file
    );
    let content = Content::Text(text);
    Prompt { author: Author::Engine, task: Some(task.id.clone()), ..Prompt::new(content) }
}
