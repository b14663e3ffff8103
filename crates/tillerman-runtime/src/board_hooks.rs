//! Hooks of the task list: one hears of a task that was added and may have it taken off again, the
//! other of one that is to be completed and may keep it open.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_engine::Seat;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::TaskId;
use tillerman_protocol::hook::{HookDetail, HookEvent, TaskSubject};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome};

use crate::hook_line::HookLine;
use crate::session_task::SessionTask;

const CREATE: &str = "TaskCreate";
const GET: &str = "TaskGet";
const UPDATE: &str = "TaskUpdate";

/// A change of the list that hooks are asked about.
pub(crate) struct BoardHooks {
    line: HookLine,
    event: HookEvent,
    seat: Option<Seat>,
    /// The tools of the list, to look at a task and to take one off.
    get: Option<Arc<dyn Tool>>,
    update: Option<Arc<dyn Tool>>,
}

impl SessionTask {
    /// The hooks that a call concerns, if it changes the list in a way that hooks listen to.
    pub(crate) fn board_hooks(&self, name: &str, input: &Value) -> Option<BoardHooks> {
        let event = match name {
            CREATE => HookEvent::TaskCreated,
            UPDATE if input.get("status")? == "completed" => HookEvent::TaskCompleted,
            _ => return None,
        };
        let tool = |name: &str| self.tools.get(name).cloned();
        self.hooks.events().contains(&event).then(|| BoardHooks {
            line: self.hook_line(),
            event,
            seat: self.engine.config().agent.as_ref().and_then(|agent| agent.seat.clone()),
            get: tool(GET),
            update: tool(UPDATE),
        })
    }
}

impl BoardHooks {
    /// Runs the call, unless hooks object.
    pub(crate) async fn call(self, tool: Arc<dyn Tool>, request: ToolCall) -> ToolOutcome {
        match self.event {
            HookEvent::TaskCreated => self.create(tool, request).await,
            _ => self.complete(tool, request).await,
        }
    }

    async fn create(self, tool: Arc<dyn Tool>, request: ToolCall) -> ToolOutcome {
        let again = request.clone();
        let output = tool.call(request).await?;
        let task = output.structured.as_ref().and_then(|value| value.get("task")).cloned();
        let Some(subject) = task.and_then(|task| self.subject(&task)) else { return Ok(output) };
        let id = subject.task_id.clone();
        let Some(reason) = self.objection(HookDetail::TaskCreated(subject), &again).await else {
            return Ok(output);
        };
        let input = json!({"taskId": id.as_str(), "status": "deleted"});
        let taken_off = match self.update {
            Some(update) => update.call(ToolCall { input, ..again }).await.is_ok(),
            None => false,
        };
        let end = if taken_off { "The task was not added." } else { "Take the task off the list." };
        Err(ToolFailure::new(format!("TaskCreated hook error: {reason}\n{end}")))
    }

    async fn complete(self, tool: Arc<dyn Tool>, request: ToolCall) -> ToolOutcome {
        let task = match &self.get {
            Some(get) => {
                get.call(ToolCall { input: by_id(&request.input), ..request.clone() }).await
            }
            None => return tool.call(request).await,
        };
        let task = task.ok().and_then(|output| output.structured);
        let task = task.as_ref().and_then(|value| value.get("task"));
        let is_open = |task: &&Value| task.get("status").is_some_and(|it| it != "completed");
        // A task that is not there, or done already, is for the tool to answer.
        let Some(subject) = task.filter(is_open).and_then(|task| self.subject(task)) else {
            return tool.call(request).await;
        };
        match self.objection(HookDetail::TaskCompleted(subject), &request).await {
            Some(reason) => Err(ToolFailure::new(format!(
                "TaskCompleted hook error: {reason}\nThe task was not changed."
            ))),
            None => tool.call(request).await,
        }
    }

    /// Why hooks object; a call that is cancelled meanwhile does not go on either.
    async fn objection(&self, detail: HookDetail, request: &ToolCall) -> Option<String> {
        let outcome = tokio::select! {
            biased;
            () = request.cancel.cancelled() => return Some("the call was cancelled".to_owned()),
            outcome = self.line.ask(detail) => outcome,
        };
        outcome.refusal().or(outcome.halt)
    }

    fn subject(&self, task: &Value) -> Option<TaskSubject> {
        let text = |name: &str| task.get(name).and_then(Value::as_str).map(str::to_owned);
        let seat = self.seat.clone();
        let (teammate_name, team_name) = seat.map(|seat| (seat.name, seat.team)).unzip();
        Some(TaskSubject {
            task_id: TaskId::new(text("id")?),
            task_subject: text("subject")?,
            task_description: text("description"),
            teammate_name,
            team_name,
        })
    }
}

fn by_id(input: &Value) -> Value {
    json!({"taskId": input.get("taskId")})
}
