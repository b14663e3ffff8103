//! Carrying out what the engine wants, in the order in which it wants it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tillerman_engine::{AskId, CallId, Effect, Input, Judgement, PermissionAsk, Standing, Sync};
use tillerman_policy::{Before, Facts, Verdict};
use tillerman_ports::{AppendError, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::control::{CanUseTool, ControlBody, ControlCancel, ControlRequest};
use tillerman_protocol::frame::{Frame, SystemDetail, SystemFrame, TranscriptMirror};
use tillerman_protocol::permission::PermissionUpdate;
use tillerman_protocol::tool::Access;
use tillerman_protocol::transcript::Entry;
use tokio_util::sync::CancellationToken;

use crate::facts::{RealDisk, bounds, hidden};
use crate::invocations::{SKILL, touched, with_memory};
use crate::questions::Question;
use crate::session_task::{Grant, SessionTask};
use crate::work::Name;

const RETRY_APPEND: Duration = Duration::from_millis(500);

impl SessionTask {
    pub(crate) async fn carry_out(&mut self, effect: Effect) {
        // After the transcript failed nothing may be shown or begun that was not stored.
        if self.storage_failure.is_some() && !ends_something(&effect) {
            if let Effect::RunHooks { run, .. } = effect {
                self.pending.push_back(Input::HooksAnswered { run, outcome: Box::default() });
            }
            return;
        }
        match effect {
            Effect::Emit(frame) => {
                if matches!(*frame, Frame::Result(_)) {
                    self.take_back();
                }
                self.show_and_greet(*frame).await;
            }
            Effect::Append(entry) => {
                // A fork is stored once it has something of its own to store.
                for copied in std::mem::take(&mut self.copied) {
                    self.append(&copied).await;
                }
                self.append(&entry).await;
            }
            Effect::Sync(sync) => self.sync(sync).await,
            Effect::Checkpoint { messages } => self.take_checkpoint(messages).await,
            Effect::Reserve { response, share } => self.reserve(response, share),
            Effect::CancelReserve { response } => self.cancel_reserve(response),
            Effect::Settle(bill) => self.settle(*bill).await,
            Effect::CallModel { response, request } => {
                self.refresh_settings().await;
                self.work.stream(response, Arc::clone(&self.ports.model), *request);
            }
            Effect::CancelModel { response } => self.work.abort(&Name::Model(response)),
            Effect::RunHooks { run, input } => self.run_hooks(run, *input).await,
            Effect::TellHooks { input } => self.tell_hooks(*input).await,
            Effect::CancelHooks { run } => self.cancel_hooks(run).await,
            Effect::JudgeCall { call, name, input, standing } => {
                let judgement = self.judge(call, &name, &input, standing);
                self.pending.push_back(Input::CallJudged { call, judgement });
            }
            Effect::AskPermission { ask, request } => self.ask_permission(ask, *request).await,
            Effect::CancelAsk { ask } => self.cancel_ask(ask).await,
            Effect::UpdatePermissions(updates) => {
                for update in &updates {
                    self.update_permissions(update).await;
                }
            }
            Effect::Grant(rules) => self.lend(&rules),
            Effect::StartOver { session } => self.start_over(&session),
            Effect::RunTool { call, tool_use_id, name, input } => {
                self.run_tool(call, tool_use_id, &name, input);
            }
            Effect::CancelTool { call } => self.work.cancel_call(call),
            Effect::StartTask { task } => self.begin_agent(&task),
            Effect::StopTask { task } => {
                self.work.stop_task(&task);
            }
            Effect::StartTimer { timer, after_ms } => {
                self.work.timer(timer, Duration::from_millis(after_ms));
            }
            Effect::CancelTimer { timer } => self.work.abort(&Name::Timer(timer)),
            Effect::End => self.ended = true,
        }
    }

    /// Shows a frame; what people should know about their settings follows the first `init`.
    async fn show_and_greet(&mut self, frame: Frame) {
        let greets =
            matches!(&frame, Frame::System(it) if matches!(it.detail, SystemDetail::Init(_)));
        let Some(frame) = self.show_tasks_of_tree(frame).await else { return };
        self.present(frame).await;
        if greets {
            self.facing.has_greeted = true;
            self.tell_about_settings().await;
        }
    }

    async fn ask_permission(&mut self, ask: AskId, request: PermissionAsk) {
        let programs = self.bind_programs(ask, &request);
        if self.ask_approver(ask, &request) {
            return;
        }
        let request_id = self.ids.entry_id().as_str().into();
        self.questions.put(request_id, Question::Permission(ask));
        if let Some(request_id) = self.questions.of_ask(ask) {
            let question = programs.name_in(can_use_tool(request));
            self.send_request(request_id, question).await;
        }
    }

    async fn cancel_ask(&mut self, ask: AskId) {
        self.questions.unbind(ask);
        if let Some(request_id) = self.questions.of_ask(ask) {
            self.questions.take(&request_id);
            if self.cancel_approver(&request_id) {
                return;
            }
            self.show(Frame::ControlCancelRequest(ControlCancel { request_id })).await;
        }
    }

    /// An update holds at once; where it cannot be kept the host hears of it.
    async fn update_permissions(&mut self, update: &PermissionUpdate) {
        self.policy.apply(update);
        if let Err(reason) = self.ports.keeper.keep(update) {
            let text = format!("A permission update holds for this session only: {reason}");
            tracing::warn!("{text}");
            self.notify("permission_not_kept", &text).await;
        }
    }

    /// Shows a frame. A host that is gone does not stop the work: the transcript goes on. One that
    /// is there and does not read slows the session down, until the process is to end.
    pub(crate) async fn show(&mut self, frame: Frame) {
        match self.in_turn(frame) {
            Some(frame) => self.put_out(frame).await,
            None => self.relieve_display().await,
        }
    }

    /// Hands a frame to the host.
    pub(crate) async fn put_out(&mut self, frame: Frame) {
        tokio::select! {
            biased;
            sent = self.out.send(frame) => {
                if sent.is_err() {
                    tracing::debug!("nobody reads frames any more");
                }
            }
            () = self.facing.shutdown.cancelled() => {
                tracing::debug!("a frame was dropped: the host did not read it in time");
            }
        }
    }

    pub(crate) async fn notify(&mut self, key: &str, text: &str) {
        let frame = SystemFrame {
            detail: SystemDetail::Notification {
                key: key.to_owned(),
                text: text.to_owned(),
                priority: "high".to_owned(),
            },
            session_id: self.engine.config().session_id.clone(),
            uuid: self.ids.entry_id(),
        };
        self.show(Frame::System(Box::new(frame))).await;
    }

    pub(crate) async fn send_request(
        &mut self,
        request_id: tillerman_protocol::RequestId,
        request: ControlBody,
    ) {
        self.show(Frame::ControlRequest(Box::new(ControlRequest { request_id, request }))).await;
    }

    /// Appends an entry; while the disk is full the session waits instead of going on unrecorded.
    pub(crate) async fn append(&mut self, entry: &Entry) {
        if self.storage_failure.is_some() {
            return;
        }
        let mut told = false;
        while let Err(error) = self.ports.transcript.append(entry) {
            if !error.may_pass {
                return self.storage_failed(&error).await;
            }
            if !told {
                told = true;
                let text = format!(
                    "{error} ({}). The session waits and tries again; nothing was lost. Free some space.",
                    error.source
                );
                tracing::warn!("{text}");
                self.notify("transcript_paused", &text).await;
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY_APPEND) => {}
                () = self.facing.shutdown.cancelled() => return self.storage_failed(&error).await,
            }
        }
        self.note_read(entry);
        if self.facing.mirror {
            let entries = serde_json::to_value(entry).into_iter().collect();
            let file_path = self.ports.transcript.path();
            self.show(Frame::TranscriptMirror(TranscriptMirror { file_path, entries })).await;
        }
    }

    async fn sync(&mut self, sync: Sync) {
        let syncing = self.ports.transcript.sync();
        match sync {
            // The outcome of a sync that nobody waits for shows at the next append.
            Sync::Begin => drop(syncing),
            Sync::Finish => {
                if let Err(error) = syncing.await {
                    self.storage_failed(&error).await;
                }
            }
        }
    }

    async fn storage_failed(&mut self, error: &AppendError) {
        let text = format!(
            "{error}: {}. The session was stopped; resume it once this is mended.",
            error.source
        );
        tracing::error!("{text}");
        self.notify("transcript_failed", &text).await;
        self.storage_failure = Some(text);
        self.pending.push_back(Input::ShutDown);
    }

    fn judge(
        &mut self,
        call: CallId,
        name: &str,
        input: &serde_json::Value,
        standing: Standing,
    ) -> Judgement {
        if let Some(judgement) = self.judge_agent_call(call, name, input, standing) {
            return judgement;
        }
        let Some(tool) = self.tools.get(name) else { return Judgement::UnknownTool };
        // What a tool says about itself runs in the session's own task, which must survive it.
        let examined = catch_unwind(AssertUnwindSafe(|| tool.check(input).map(|()| tool.spec())));
        let spec = match examined {
            Ok(Ok(spec)) => spec,
            Ok(Err(message)) => return Judgement::Invalid { message },
            Err(_) => {
                let message = "the tool crashed while it checked the input".to_owned();
                return Judgement::Invalid { message };
            }
        };
        // What an MCP server says about its own tools approves nothing.
        let only_looks = spec.access == Access::ReadOnly && !name.starts_with("mcp__");
        self.rule_on(call, name, input, only_looks, standing)
    }

    /// What policy says about a call whose input is one its tool takes.
    pub(crate) fn rule_on(
        &mut self,
        call: CallId,
        name: &str,
        input: &serde_json::Value,
        only_looks: bool,
        standing: Standing,
    ) -> Judgement {
        let before = match standing {
            Standing::Fresh => Before::Nothing,
            Standing::HookAllowed => Before::HookAllowed,
            Standing::HookAsked => Before::HookAsked,
            Standing::Approved => Before::Approved,
        };
        let facts = Facts { tool: name, input, only_looks, disk: &RealDisk };
        let ruling = self.policy.judge(&facts, self.engine.mode(), before);
        match ruling.verdict {
            Verdict::Allow => {
                let bounds = bounds(ruling.runs);
                self.grants.insert(call, Grant { environment: ruling.run_with, bounds });
                Judgement::Allow
            }
            Verdict::Deny { message, by } => {
                Judgement::Deny { message, reason_type: by.to_owned() }
            }
            Verdict::Ask { reason, blocked_path, suggestions } => {
                Judgement::Ask { reason: Some(reason), blocked_path, suggestions }
            }
        }
    }

    fn run_tool(
        &mut self,
        call: CallId,
        tool_use_id: ToolUseId,
        name: &str,
        input: serde_json::Value,
    ) {
        if self.run_agent_call(call, &tool_use_id, name, &input) {
            return;
        }
        let Some(tool) = self.tools.get(name) else {
            self.pending.push_back(Input::CallJudged { call, judgement: Judgement::UnknownTool });
            return;
        };
        self.mcp.shelf.note_call(call, name);
        let cancel = CancellationToken::new();
        let tasks = self.work.call_desk(call, tool_use_id.clone());
        let grant = self.grants.remove(&call).unwrap_or_default();
        // What the permission hangs on outranks what hooks left.
        let mut environment = self.hook_variables(name);
        environment.extend(grant.environment);
        let (cancelled, bounds) = (cancel.clone(), grant.bounds);
        let hidden = hidden(&self.policy);
        let request =
            ToolCall { tool_use_id, input, cancel: cancelled, environment, bounds, hidden, tasks };
        let tool = Arc::clone(tool);
        if let Some(hooks) = self.board_hooks(name, &request.input) {
            return self.work.call(call, cancel, hooks.call(tool, request));
        }
        let Some(library) = self.ports.library.clone() else {
            return self.work.call(call, cancel, async move { tool.call(request).await });
        };
        if name == SKILL {
            let skill = self.skill(library, &cancel, request.input);
            return self.work.call(call, cancel, skill);
        }
        let (path, line) = (touched(name, &request.input), self.hook_line());
        self.work.call(call, cancel, async move {
            let outcome = tool.call(request).await;
            match path {
                Some(path) => with_memory(outcome, library, path, line).await,
                None => outcome,
            }
        });
    }
}

fn can_use_tool(ask: PermissionAsk) -> ControlBody {
    let description = ask.input.get("description").and_then(|text| text.as_str());
    ControlBody::CanUseTool(Box::new(CanUseTool {
        display_name: ask.tool_name.clone(),
        tool_name: ask.tool_name,
        description: description.map(str::to_owned),
        input: ask.input,
        tool_use_id: ask.tool_use_id,
        permission_suggestions: ask.suggestions,
        blocked_path: ask.blocked_path,
        decision_reason: ask.reason,
        title: None,
        agent_id: None,
        extra: serde_json::Map::new(),
    }))
}

/// Whether an effect ends work instead of beginning or showing any.
const fn ends_something(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::CancelModel { .. }
            | Effect::CancelHooks { .. }
            | Effect::CancelAsk { .. }
            | Effect::CancelTool { .. }
            | Effect::CancelTimer { .. }
            | Effect::CancelReserve { .. }
            | Effect::Settle(_)
            | Effect::StopTask { .. }
            | Effect::End
    )
}
