//! Letting calls go on in the background: agents at once, commands as soon as they have left.

use serde_json::json;
use tillerman_engine::CallId;
use tillerman_protocol::{RequestId, TaskId, ToolUseId};

use crate::session_task::SessionTask;

/// A request of the host that is answered once every call has gone on.
#[derive(Debug)]
pub(crate) struct Letting {
    request: RequestId,
    /// Whether a single call was named.
    is_for_one: bool,
    /// The tasks that have become of calls so far.
    tasks: Vec<TaskId>,
    awaited: Vec<CallId>,
}

/// Requests to let calls go that are not answered yet.
pub(crate) type Lettings = Vec<Letting>;

impl SessionTask {
    /// Lets a call, or all of them, go on without the work they wait for.
    pub(crate) async fn let_go(&mut self, request: RequestId, call: Option<&ToolUseId>) {
        let tasks = self.background_agents(call).await;
        let awaited = self.work.let_go(call);
        let is_for_one = call.is_some();
        self.lettings.push(Letting { request, is_for_one, tasks, awaited });
        self.answer_lettings().await;
    }

    /// A call has left a task behind, which may be what somebody asked for.
    pub(crate) fn note_left(&mut self, tool_use_id: &ToolUseId, task: &TaskId) {
        let Some(call) = self.work.call_of(tool_use_id) else { return };
        for letting in self.lettings.iter_mut().filter(|it| it.awaited.contains(&call)) {
            letting.tasks.push(task.clone());
        }
    }

    /// A call has ended, in the background or before it got there.
    pub(crate) async fn note_call_ended(&mut self, call: CallId) {
        for letting in &mut self.lettings {
            letting.awaited.retain(|awaited| *awaited != call);
        }
        self.answer_lettings().await;
    }

    async fn answer_lettings(&mut self) {
        let (done, waiting) = std::mem::take(&mut self.lettings)
            .into_iter()
            .partition::<Lettings, _>(|letting| letting.awaited.is_empty());
        self.lettings = waiting;
        for Letting { request, is_for_one, tasks, .. } in done {
            // Only who names a call can have been wrong about it.
            let backgrounded = !is_for_one || !tasks.is_empty();
            let answer = json!({"backgrounded": backgrounded, "task_ids": tasks});
            self.respond(request, Ok(answer)).await;
        }
    }
}
