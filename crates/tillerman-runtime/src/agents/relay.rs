//! Runs an agent: passes its frames on to the host and makes its end known.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_engine::IdSource;
use tillerman_ports::{BoxFuture, Clock, WorkingCopy};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::frame::{
    AssistantFrame, Frame, PermissionDenial, ResultFrame, ResultSubtype, SessionState,
    SystemDetail, SystemFrame, TaskProgress, TaskUsage, UserFrame,
};
use tillerman_protocol::hook::HookDetail;
use tillerman_protocol::stream::Usage;
use tillerman_protocol::task::{TaskEnd, TaskReport, TaskStatus};
use tillerman_protocol::{Moment, SessionId, ToolUseId};
use tokio::sync::mpsc;

use crate::agents::book::Agent;
use crate::agents::child::Launch;
use crate::agents::outcome;
use crate::agents::tally::Tally;
use crate::agents::tree::Tree;
use crate::hook_line::HookLine;
use crate::session_task::{Inbound, run_agent};

const FRAMES_IN_FLIGHT: usize = 64;
/// How long an agent that is told to end may take; after that it is dropped with all its work.
const GRACE: Duration = Duration::from_secs(8);

/// The work of an agent, from its first prompt to its end.
pub(crate) fn work(launch: Launch) -> BoxFuture<TaskEnd> {
    Box::pin(async move {
        let _witness = Witness(Arc::clone(&launch.agent));
        let tree = Arc::clone(launch.agents.tree());
        let mut relay = Relay {
            agent: Arc::clone(&launch.agent),
            tool_use_id: launch.tool_use_id,
            session_id: launch.session_id,
            clock: Arc::clone(&launch.setup.ports.clock),
            started_at: launch.started_at,
            ids: IdSource::new(launch.seed),
            tree,
            usage: Usage::default(),
            tokens: 0,
            tool_uses: 0,
            tally: Tally::default(),
            asked: false,
            denials: Vec::new(),
            result: None,
            misfortune: None,
        };
        if let Some(copy) = &launch.copy
            && let Err(why) = relay.settle_in(copy.as_ref()).await
        {
            relay.misfortune = Some(why);
            return relay.conclude(false, None);
        }
        let (out, frames) = mpsc::channel(FRAMES_IN_FLIGHT);
        let session = run_agent(*launch.setup, launch.agents, launch.hooks, launch.inbound, out);
        let stopped = relay.attend(session, frames).await;
        relay.clear_tasks().await;
        let stays = match launch.copy {
            Some(copy) => leave(copy.as_ref(), &launch.line).await,
            None => None,
        };
        relay.conclude(stopped, stays)
    })
}

/// Sees to it that nobody waits for an agent whose work crashed or was dropped.
struct Witness(Arc<Agent>);

impl Drop for Witness {
    fn drop(&mut self) {
        if self.0.is_at_work() {
            let report = TaskReport::default();
            let end = outcome::end(&self.0, TaskStatus::Failed, "its work was cut off", report);
            self.0.advance(|progress| progress.ended = Some(end));
        }
    }
}

/// What stands between an agent and the host.
struct Relay {
    tree: Arc<Tree>,
    agent: Arc<Agent>,
    tool_use_id: ToolUseId,
    session_id: SessionId,
    clock: Arc<dyn Clock>,
    started_at: Moment,
    ids: IdSource,
    usage: Usage,
    tokens: u64,
    tool_uses: u64,
    tally: Tally,
    /// Whether the host was told that somebody has to act.
    asked: bool,
    denials: Vec<PermissionDenial>,
    result: Option<Box<ResultFrame>>,
    /// Why it could not begin.
    misfortune: Option<String>,
}

impl Relay {
    /// Makes the copy of the project in which the agent works alone.
    async fn settle_in(&self, copy: &dyn WorkingCopy) -> Result<(), String> {
        tokio::select! {
            biased;
            () = self.agent.cancel.cancelled() => Err("it was stopped before it began".to_owned()),
            made = copy.make() => made,
        }
    }

    /// Passes frames on until the session is over; says whether it was told to end.
    async fn attend(
        &mut self,
        mut session: BoxFuture<crate::session_task::SessionEnd>,
        mut frames: mpsc::Receiver<Frame>,
    ) -> bool {
        let agent = Arc::clone(&self.agent);
        let patience = tokio::time::sleep(GRACE);
        tokio::pin!(patience);
        let (mut stopped, mut over) = (false, false);
        loop {
            tokio::select! {
                biased;
                frame = frames.recv() => match frame {
                    Some(frame) => self.pass(frame).await,
                    None => return stopped,
                },
                () = agent.cancel.cancelled(), if !stopped => {
                    stopped = true;
                    patience.as_mut().reset(tokio::time::Instant::now() + GRACE);
                    for word in [Inbound::Interrupt, Inbound::ShutDown] {
                        if agent.line.try_send(word).is_err() {
                            tracing::debug!("the agent {} does not listen any more", agent.id);
                        }
                    }
                }
                _ = &mut session, if !over => over = true,
                () = &mut patience, if stopped => {
                    tracing::warn!("the agent {} did not end in time and was dropped", agent.id);
                    return true;
                }
            }
        }
    }

    async fn pass(&mut self, frame: Frame) {
        match frame {
            Frame::Assistant(frame) => self.pass_assistant(*frame).await,
            Frame::User(frame) => self.pass_user(*frame).await,
            Frame::System(frame) => self.pass_news(*frame).await,
            Frame::Result(result) => {
                self.usage.add(&result.usage);
                self.tokens = self.usage.input_total() + self.usage.output_tokens;
                self.denials.extend(result.permission_denials.iter().cloned());
                self.result = Some(result);
            }
            Frame::ControlRequest(mut request) => {
                if let ControlBody::CanUseTool(ask) = &mut request.request {
                    ask.agent_id = Some(self.agent.id.to_string());
                }
                let line = self.agent.line.clone();
                self.tree.switchboard.put(request.request_id.clone(), line);
                self.tree.show(Frame::ControlRequest(request)).await;
            }
            Frame::ControlCancelRequest(cancel) => {
                self.tree.switchboard.forget(&cancel.request_id);
                self.tree.show(Frame::ControlCancelRequest(cancel)).await;
            }
            frame @ (Frame::ControlResponse(_) | Frame::TranscriptMirror(_)) => {
                self.tree.show(frame).await;
            }
            _ => {}
        }
    }

    /// Hosts see what agents do; what they say only when they want to.
    async fn pass_assistant(&mut self, mut frame: AssistantFrame) {
        let usage = &frame.message.usage;
        self.tokens = self.tokens.max(usage.input_total() + usage.output_tokens);
        let mut last_tool = None;
        for block in &frame.message.content {
            match block {
                Block::ToolUse { name, .. } => {
                    self.tool_uses += 1;
                    self.tally.called(name);
                    last_tool = Some(name.clone());
                }
                Block::Text { text, .. } => {
                    self.agent.advance(|progress| progress.said.clone_from(text));
                }
                _ => {}
            }
        }
        let failed = frame.is_api_error_message == Some(true);
        if last_tool.is_some() || failed || self.tree.forwards_text() {
            frame.parent_tool_use_id = Some(self.tool_use_id.clone());
            frame.extra.insert("subagent_type".to_owned(), json!(self.agent.kind));
            frame.extra.insert("task_description".to_owned(), json!(self.agent.description));
            self.tree.show(Frame::Assistant(Box::new(frame))).await;
        }
        if last_tool.is_some() {
            self.tell_progress(last_tool).await;
        }
    }

    async fn pass_user(&mut self, mut frame: UserFrame) {
        if let Some(result) = &frame.tool_use_result {
            self.tally.returned(result);
        }
        let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
        let has_result = match &frame.message.content {
            Content::Blocks(blocks) => blocks.iter().any(is_result),
            Content::Text(_) => false,
        };
        if has_result || frame.is_replay == Some(true) || self.tree.forwards_text() {
            frame.parent_tool_use_id = Some(self.tool_use_id.clone());
            frame.extra.insert("agent_id".to_owned(), json!(self.agent.id));
            frame.extra.insert("subagent_type".to_owned(), json!(self.agent.kind));
            frame.extra.insert("task_description".to_owned(), json!(self.agent.description));
            // Hosts see what went wrong; what tools return beside their text is the agent's own.
            frame.tool_use_result = frame.tool_use_result.filter(Value::is_string);
            frame.is_replay = None;
            self.tree.show(Frame::User(Box::new(frame))).await;
        }
    }

    /// News that concern the host beyond the agent itself.
    async fn pass_news(&mut self, frame: SystemFrame) {
        match &frame.detail {
            SystemDetail::SessionStateChanged { state: SessionState::RequiresAction, .. } => {
                self.asked = true;
            }
            SystemDetail::SessionStateChanged { state: SessionState::Running, .. }
                if self.asked =>
            {
                self.asked = false;
            }
            SystemDetail::TaskStarted(task) => {
                let line = self.agent.line.clone();
                self.tree.switchboard.put_task(task.task_id.clone(), line);
            }
            SystemDetail::TaskNotification(task) => {
                self.tree.switchboard.forget_task(&task.task_id);
            }
            SystemDetail::BackgroundTasksChanged { .. } => {
                return self.tree.show_tasks(Some(&self.agent.id), frame).await;
            }
            SystemDetail::PermissionDenied(_)
            | SystemDetail::ApiRetry(_)
            | SystemDetail::Notification { .. }
            | SystemDetail::HookStarted(_)
            | SystemDetail::HookProgress(_)
            | SystemDetail::HookResponse(_)
            | SystemDetail::TaskUpdated(_) => {}
            _ => return,
        }
        self.tree.show(Frame::System(Box::new(frame))).await;
    }

    /// Tasks do not outlive the agent that keeps them.
    async fn clear_tasks(&mut self) {
        if self.tree.board.lists_any_of(&self.agent.id) {
            let detail = SystemDetail::BackgroundTasksChanged { tasks: Vec::new() };
            let (session_id, uuid) = (self.session_id.clone(), self.ids.entry_id());
            let frame = SystemFrame { detail, session_id, uuid };
            self.tree.show_tasks(Some(&self.agent.id), frame).await;
        }
    }

    async fn tell_progress(&mut self, last_tool_name: Option<String>) {
        let usage = self.task_usage();
        self.agent.advance(|progress| progress.usage = usage);
        let mut extra = serde_json::Map::new();
        extra.insert("tool_use_id".to_owned(), json!(self.tool_use_id));
        extra.insert("subagent_type".to_owned(), json!(self.agent.kind));
        let detail = SystemDetail::TaskProgress(TaskProgress {
            task_id: self.agent.id.clone(),
            description: self.agent.description.clone(),
            usage,
            last_tool_name,
            extra,
        });
        let (session_id, uuid) = (self.session_id.clone(), self.ids.entry_id());
        self.tree.show(Frame::System(Box::new(SystemFrame { detail, session_id, uuid }))).await;
    }

    fn task_usage(&self) -> TaskUsage {
        TaskUsage {
            total_tokens: self.tokens,
            tool_uses: self.tool_uses,
            duration_ms: self.clock.now().millis_since(self.started_at),
        }
    }

    /// Makes the end known to everybody who waits for it, and returns it for the task.
    fn conclude(self, stopped: bool, stays: Option<String>) -> TaskEnd {
        let usage = self.task_usage();
        let said = self.agent.progress().said;
        let text = |text: &str| outcome::presentable(text, &self.agent.output_file);
        let (status, why, text) = match &self.result {
            _ if stopped && self.agent.is_overdue() => {
                let why = "it was still at work when the time after the input was closed was over, \
                           and was stopped";
                (TaskStatus::Failed, why.to_owned(), said)
            }
            _ if stopped => (TaskStatus::Stopped, String::new(), said),
            Some(result) if result.subtype == ResultSubtype::Success && !result.is_error => {
                let reported = result.result.as_deref().unwrap_or_default();
                (TaskStatus::Completed, String::new(), text(reported))
            }
            // Its own limit is no misfortune: what it has done so far is worth reporting.
            Some(result) if result.terminal_reason == "max_turns" => {
                (TaskStatus::Completed, String::new(), outcome::unfinished(&said, text, result))
            }
            Some(result) => (TaskStatus::Failed, reason(result), said),
            None => {
                let why = self.misfortune.clone();
                let why = why.unwrap_or_else(|| "it ended without a result".to_owned());
                (TaskStatus::Failed, why, said)
            }
        };
        let text = match stays {
            Some(stays) => format!("{text}\n\n[{stays}]").trim_start().to_owned(),
            None => text,
        };
        let report = TaskReport { text, usage, denials: self.denials };
        let structured = (status == TaskStatus::Completed).then(|| {
            let mut told = outcome::structured(&self.agent, &report, &self.usage);
            self.tally.tell(&mut told);
            told
        });
        let end = outcome::end(&self.agent, status, &why, report);
        self.agent.advance(|progress| {
            progress.usage = usage;
            progress.outcome = structured;
            progress.ended = Some(end.clone());
        });
        end
    }
}

/// Has a copy removed in which nothing changed, and waits for the hooks that clear up after it.
async fn leave(copy: &dyn WorkingCopy, line: &HookLine) -> Option<String> {
    let stays = copy.leave().await;
    if stays.is_none() {
        let worktree_path = copy.root().display().to_string();
        line.ask(HookDetail::WorktreeRemove { worktree_path }).await;
    }
    stays
}

/// Why a round failed, as a part of a sentence.
fn reason(result: &ResultFrame) -> String {
    let errors = result.errors.iter().flatten().cloned();
    let all: Vec<String> = errors.chain(result.result.clone()).collect();
    all.join("; ").trim_end_matches('.').to_owned()
}
