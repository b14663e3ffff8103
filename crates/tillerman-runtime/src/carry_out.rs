//! Carrying out what the engine wants, in the order in which it wants it.

use std::time::Duration;

use tillerman_engine::{CallId, Effect, Input, Judgement, PermissionAsk, Standing, Sync};
use tillerman_policy::{Before, Verdict};
use tillerman_ports::{AppendError, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::control::{CanUseTool, ControlBody, ControlCancel, ControlRequest};
use tillerman_protocol::frame::{Frame, SystemDetail, SystemFrame, TranscriptMirror};
use tillerman_protocol::transcript::Entry;
use tokio_util::sync::CancellationToken;

use crate::facts;
use crate::questions::Question;
use crate::session_task::SessionTask;
use crate::work::{Name, no_opinion};

const RETRY_APPEND: Duration = Duration::from_millis(500);

impl SessionTask {
    pub(crate) async fn carry_out(&mut self, effect: Effect) {
        match effect {
            // After the transcript failed nothing may be shown that was not stored.
            Effect::Emit(_) | Effect::Append(_) | Effect::Sync(_)
                if self.storage_failure.is_some() => {}
            Effect::Emit(frame) => self.show(*frame).await,
            Effect::Append(entry) => {
                // A fork is stored once it has something of its own to store.
                for copied in std::mem::take(&mut self.copied) {
                    self.append(&copied).await;
                }
                self.append(&entry).await;
            }
            Effect::Sync(sync) => self.sync(sync).await,
            Effect::CallModel { response, request } => {
                let stream = self.ports.model.respond(*request);
                self.work.stream(response, stream);
            }
            Effect::CancelModel { response } => self.work.abort(&Name::Model(response)),
            Effect::RunHooks { run, input } => {
                let callbacks = self.hooks.start(run, &input, &mut self.ids);
                if callbacks.is_empty() {
                    self.pending.push_back(Input::HooksAnswered { run, outcome: no_opinion() });
                }
                for callback in callbacks {
                    self.work.hook_timer(callback.request.clone(), callback.timeout);
                    self.questions.put(callback.request.clone(), Question::Hook);
                    self.send_request(callback.request, callback.body).await;
                }
            }
            Effect::CancelHooks { run } => {
                for request_id in self.hooks.cancel(run) {
                    self.work.abort(&Name::HookTimer(request_id.clone()));
                    self.questions.take(&request_id);
                    self.show(Frame::ControlCancelRequest(ControlCancel { request_id })).await;
                }
            }
            Effect::JudgeCall { call, name, input, standing } => {
                let judgement = self.judge(&name, &input, standing);
                self.pending.push_back(Input::CallJudged { call, judgement });
            }
            Effect::AskPermission { ask, request } => {
                let request_id = self.ids.entry_id().as_str().into();
                self.questions.put(request_id, Question::Permission(ask));
                if let Some(request_id) = self.questions.of_ask(ask) {
                    self.send_request(request_id, can_use_tool(*request)).await;
                }
            }
            Effect::CancelAsk { ask } => {
                if let Some(request_id) = self.questions.of_ask(ask) {
                    self.questions.take(&request_id);
                    self.show(Frame::ControlCancelRequest(ControlCancel { request_id })).await;
                }
            }
            Effect::UpdatePermissions(updates) => {
                for update in &updates {
                    self.policy.apply(update);
                }
            }
            Effect::RunTool { call, tool_use_id, name, input } => {
                self.run_tool(call, tool_use_id, &name, input);
            }
            Effect::CancelTool { call } => self.work.cancel_call(call),
            Effect::StartTimer { timer, after_ms } => {
                self.work.timer(timer, Duration::from_millis(after_ms));
            }
            Effect::CancelTimer { timer } => self.work.abort(&Name::Timer(timer)),
            Effect::End => self.ended = true,
        }
    }

    /// Shows a frame. A host that is gone does not stop the work: the transcript goes on.
    pub(crate) async fn show(&mut self, frame: Frame) {
        if self.out.send(frame).await.is_err() {
            tracing::debug!("nobody reads frames any more");
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

    async fn send_request(
        &mut self,
        request_id: tillerman_protocol::RequestId,
        request: ControlBody,
    ) {
        self.show(Frame::ControlRequest(Box::new(ControlRequest { request_id, request }))).await;
    }

    /// Appends an entry; while the disk is full the session waits instead of going on unrecorded.
    async fn append(&mut self, entry: &Entry) {
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

    fn judge(&self, name: &str, input: &serde_json::Value, standing: Standing) -> Judgement {
        let Some(tool) = self.tools.get(name) else { return Judgement::UnknownTool };
        if let Err(message) = tool.check(input) {
            return Judgement::Invalid { message };
        }
        let before = match standing {
            Standing::Fresh => Before::Nothing,
            Standing::HookAllowed => Before::HookAllowed,
            Standing::HookAsked => Before::HookAsked,
            Standing::Approved => Before::Approved,
        };
        let facts = facts::gather(&tool.spec(), input, &self.policy.directories);
        match self.policy.judge_after(&facts.as_facts(name, input), self.engine.mode(), before) {
            Verdict::Allow => Judgement::Allow,
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
        let Some(tool) = self.tools.get(name) else {
            self.pending.push_back(Input::CallJudged { call, judgement: Judgement::UnknownTool });
            return;
        };
        let cancel = CancellationToken::new();
        let running = tool.call(ToolCall { tool_use_id, input, cancel: cancel.clone() });
        self.work.call(call, cancel, running);
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
        agent_id: None,
    }))
}
