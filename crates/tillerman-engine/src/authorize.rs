//! The way of a call up to its result: hooks, judgement, question, run.

use serde_json::{Value, json};
use tillerman_protocol::frame::SessionState;
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::permission::{PermissionResult, PermissionUpdate, UpdateDestination};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tillerman_protocol::{EntryId, ToolUseId};

use crate::calls::{AskId, Call, CallId, CallState, Question};
use crate::effect::{Effect, PermissionAsk, Standing};
use crate::hooks::{HookDecision, HookOutcome};
use crate::input::{Judgement, PermissionAnswer};
use crate::round::Ending;
use crate::session::{Door, Session};
use crate::settle::Breaker;

const DECLINED: &str = "The user declined this call and stopped the work. Nothing was run. Wait for \
     the user to say how to go on.";
const NOBODY_TO_ASK: &str = "permission was needed and there is nobody to ask";

impl Session {
    /// Registers a call; it starts as soon as the calls before it allow.
    pub(crate) fn open_call(
        &mut self,
        tool_use_id: ToolUseId,
        name: String,
        input: Value,
        entry: EntryId,
    ) -> CallId {
        let id = CallId(self.next());
        let spec = self.config.tools.iter().find(|spec| spec.name == name);
        let is_deferred = self.config.init.deferred.contains(&name);
        // What a tool does that was not looked up is not known here, so that it runs alone.
        let unknown = if is_deferred { Access::Mutating } else { Access::ReadOnly };
        let access = spec.map_or(unknown, |spec| spec.access);
        let state = CallState::Waiting;
        let started_at = self.now;
        let (hooks_asked, hook_reason) = (false, None);
        let call = Call {
            id,
            tool_use_id,
            name,
            input,
            entry,
            access,
            hooks_asked,
            hook_reason,
            state,
            started_at,
        };
        self.with_round(|round| round.calls.add(call));
        id
    }

    /// Starts every call that may start now.
    pub(crate) fn start_calls(&mut self) {
        let parallel = self.config.limits.parallel_calls;
        while let Some(id) = self.round.as_ref().and_then(|r| r.calls.next_to_start(parallel)) {
            if let Some(reason) = self.round.as_ref().and_then(|round| round.halt.clone()) {
                self.deny_call(id, &format!("A hook stopped the run: {reason}"));
                continue;
            }
            let now = self.now;
            let Some(call) = self.call(id) else { return };
            let name = call.name.clone();
            if let Some(reason) = self.call_forbidden(&name) {
                self.report_denial(id, reason, "other");
                self.deny_call(id, reason);
                continue;
            }
            let Some(call) = self.call(id) else { return };
            call.started_at = now;
            call.state = CallState::Judging;
            if self.is_hooked(HookEvent::PreToolUse) {
                let Some(call) = self.call(id) else { return };
                let detail = HookDetail::PreToolUse {
                    tool_name: call.name.clone(),
                    tool_input: call.input.clone(),
                    tool_use_id: call.tool_use_id.clone(),
                };
                let run = self.run_hooks(detail);
                self.set_call(id, CallState::BeforeHooks(run));
            } else {
                self.judge(id, Standing::Fresh);
            }
        }
    }

    fn judge(&mut self, id: CallId, standing: Standing) {
        let Some(call) = self.call(id) else { return };
        call.state = CallState::Judging;
        let (name, input) = (call.name.clone(), call.input.clone());
        self.effects.push(Effect::JudgeCall { call: id, name, input, standing });
    }

    pub(crate) fn call_hooks_answered(&mut self, id: CallId, outcome: HookOutcome) {
        for message in &outcome.messages {
            self.emit_notification("hook", message);
        }
        self.with_round(|round| {
            round.context.extend(outcome.context.iter().cloned());
            if round.halt.is_none() {
                round.halt.clone_from(&outcome.halt);
            }
        });
        let Some(call) = self.call(id) else { return };
        match std::mem::replace(&mut call.state, CallState::Judging) {
            CallState::BeforeHooks(_) => self.before_hooks_answered(id, outcome),
            CallState::PermissionHooks(_, question) => {
                self.permission_hooks_answered(id, *question, outcome);
            }
            CallState::AfterHooks(_, tool_outcome) => {
                let is_mcp = call.name.starts_with("mcp__");
                let mcp_output = outcome.updated_mcp_output.filter(|_| is_mcp);
                self.close_with_outcome(id, *tool_outcome, outcome.updated_output.or(mcp_output));
                if let Some(reason) = outcome.block {
                    self.with_round(|round| round.context.push(reason));
                }
            }
            other => call.state = other,
        }
        self.start_calls();
        self.end_turn_if_settled();
    }

    fn before_hooks_answered(&mut self, id: CallId, outcome: HookOutcome) {
        let Some(call) = self.call(id) else { return };
        let name = call.name.clone();
        // A question that a hook answers needs nobody else; one it only waves through does.
        let is_question = matches!(name.as_str(), "AskUserQuestion" | "ExitPlanMode");
        let answers = is_question && outcome.updated_input.is_some();
        if let Some(input) = outcome.updated_input {
            call.input = input;
        }
        if let Some(reason) = outcome.halt {
            return self.deny_call(id, &format!("A hook stopped the run: {reason}"));
        }
        match outcome.decision {
            Some(HookDecision::Deny(reason)) => {
                self.deny_call(id, &format!("PreToolUse:{name} hook error: {reason}"));
            }
            Some(HookDecision::Defer) => self.set_call(id, CallState::Deferred),
            Some(HookDecision::Ask(reason)) => {
                call.hook_reason = Some(reason).filter(|reason| !reason.trim().is_empty());
                self.judge(id, Standing::HookAsked);
            }
            Some(HookDecision::Allow) if answers => self.judge(id, Standing::Approved),
            Some(HookDecision::Allow) => self.judge(id, Standing::HookAllowed),
            None => self.judge(id, Standing::Fresh),
        }
    }

    pub(crate) fn call_judged(&mut self, id: CallId, judgement: Judgement) {
        let Some(call) = self.call(id) else { return };
        if !matches!(call.state, CallState::Judging) {
            return;
        }
        let name = call.name.clone();
        let hook_reason = call.hook_reason.take();
        match judgement {
            Judgement::Allow => self.run_call(id),
            Judgement::Deny { message, reason_type } => {
                self.report_denial(id, &message, &reason_type);
                self.deny_call(id, &message);
            }
            Judgement::Ask { reason, blocked_path, suggestions } => {
                let by_hook = hook_reason.is_some();
                let reason = hook_reason.or(reason);
                self.ask(id, Question { reason, by_hook, blocked_path, suggestions });
            }
            Judgement::Invalid { message } => {
                self.refuse_call(id, &format!("Invalid input for {name}: {message}"));
            }
            Judgement::UnknownTool => {
                self.refuse_call(id, &format!("There is no tool named {name}."));
            }
        }
        self.start_calls();
        self.end_turn_if_settled();
    }

    fn ask(&mut self, id: CallId, question: Question) {
        let is_hooked = self.is_hooked(HookEvent::PermissionRequest);
        let Some(call) = self.call(id) else { return };
        if std::mem::replace(&mut call.hooks_asked, true) || !is_hooked {
            return self.ask_somebody(id, question);
        }
        let detail = HookDetail::PermissionRequest {
            tool_name: call.name.clone(),
            tool_input: call.input.clone(),
            permission_suggestions: question.suggestions.clone(),
        };
        let run = self.run_hooks(detail);
        self.set_call(id, CallState::PermissionHooks(run, Box::new(question)));
    }

    fn permission_hooks_answered(&mut self, id: CallId, question: Question, outcome: HookOutcome) {
        if let Some(reason) = outcome.halt {
            return self.deny_call(id, &format!("A hook stopped the run: {reason}"));
        }
        match outcome.permission {
            Some(PermissionResult::Allow { updated_input, updated_permissions }) => {
                // Deny and ask rules hold for an input that only a hook has seen.
                let updates = updated_permissions.unwrap_or_default();
                self.approve(id, updated_input, updates, Standing::HookAllowed);
            }
            Some(PermissionResult::Deny { message, interrupt }) => {
                self.report_denial(id, &message, "hook");
                self.decline(id, &message, interrupt);
            }
            None => self.ask_somebody(id, question),
        }
    }

    fn ask_somebody(&mut self, id: CallId, question: Question) {
        let can_ask =
            self.config.has_approver && (self.door == Door::Open || self.choices.approver_stays);
        let Some(call) = self.call(id) else { return };
        let (name, input) = (call.name.clone(), call.input.clone());
        let tool_use_id = call.tool_use_id.clone();
        if !can_ask {
            let why = question.reason.unwrap_or_else(|| NOBODY_TO_ASK.to_owned());
            let message = format!("{name} was not run: {why}.");
            self.report_denial(id, &message, if question.by_hook { "hook" } else { "mode" });
            return self.deny_call(id, &message);
        }
        self.notice_question(&name);
        let ask = AskId(self.next());
        self.set_call(id, CallState::Asking(ask));
        self.emit_state(SessionState::RequiresAction);
        let request = PermissionAsk {
            tool_use_id,
            tool_name: name,
            input,
            reason: question.reason,
            blocked_path: question.blocked_path,
            suggestions: question.suggestions,
        };
        self.effects.push(Effect::AskPermission { ask, request: Box::new(request) });
    }

    pub(crate) fn permission_answered(&mut self, ask: AskId, answer: PermissionAnswer) {
        let Some(id) = self.round.as_ref().and_then(|round| round.calls.of_ask(ask)) else {
            return;
        };
        self.set_call(id, CallState::Judging);
        if self.open_asks().is_empty() {
            self.emit_running();
        }
        match answer {
            PermissionAnswer::Allow { updated_input, updates } => {
                self.approve(id, updated_input, updates, Standing::Approved);
            }
            PermissionAnswer::Deny { message, interrupt } => self.decline(id, &message, interrupt),
            PermissionAnswer::Failed { message } => self.deny_call(id, &message),
        }
        self.start_calls();
        self.end_turn_if_settled();
    }

    fn approve(
        &mut self,
        id: CallId,
        input: Option<Value>,
        updates: Vec<PermissionUpdate>,
        standing: Standing,
    ) {
        let mut kept = Vec::new();
        for update in updates {
            match update {
                PermissionUpdate::SetMode { mode, destination } => {
                    self.choose_mode(mode);
                    if destination != UpdateDestination::Session {
                        kept.push(PermissionUpdate::SetMode { mode, destination });
                    }
                }
                update => kept.push(update),
            }
        }
        self.notice_directories(&kept);
        if !kept.is_empty() {
            self.effects.push(Effect::UpdatePermissions(kept));
        }
        let Some(call) = self.call(id) else { return };
        match input {
            Some(input) if input != call.input => {
                call.input = input;
                self.judge(id, standing);
            }
            _ => self.run_call(id),
        }
    }

    fn decline(&mut self, id: CallId, message: &str, interrupt: bool) {
        if !interrupt {
            let text =
                if message.trim().is_empty() { "The user denied this call." } else { message };
            return self.deny_call(id, text);
        }
        self.deny_call(id, DECLINED);
        self.stop_response();
        self.abandon_calls(Breaker::Person);
        self.hand_over_results();
        self.mark_interruption(true);
        self.finish(Ending::Aborted { while_working: true });
    }

    fn run_call(&mut self, id: CallId) {
        let now = self.now;
        let Some(call) = self.call(id) else { return };
        call.state = CallState::Running;
        call.started_at = now;
        let (tool_use_id, name) = (call.tool_use_id.clone(), call.name.clone());
        let input = call.input.clone();
        self.effects.push(Effect::RunTool { call: id, tool_use_id, name, input });
    }

    pub(crate) fn tool_ended(&mut self, id: CallId, outcome: ToolOutcome) {
        let now = self.now;
        let Some(call) = self.call(id) else { return };
        if !matches!(call.state, CallState::Running) {
            return;
        }
        let event = match outcome {
            Ok(_) => HookEvent::PostToolUse,
            Err(_) => HookEvent::PostToolUseFailure,
        };
        let detail = after_detail(call, &outcome, now.millis_since(call.started_at));
        if self.is_hooked(event) {
            let run = self.run_hooks(detail);
            self.set_call(id, CallState::AfterHooks(run, Box::new(outcome)));
        } else {
            self.close_with_outcome(id, outcome, None);
        }
        self.start_calls();
        self.end_turn_if_settled();
    }

    pub(crate) fn open_asks(&self) -> Vec<AskId> {
        let calls = self.round.iter().flat_map(|round| round.calls.iter());
        let ask = |call: &Call| match call.state {
            CallState::Asking(ask) => Some(ask),
            _ => None,
        };
        calls.filter_map(ask).collect()
    }

    pub(crate) fn call(&mut self, id: CallId) -> Option<&mut Call> {
        self.round.as_mut()?.calls.get_mut(id)
    }

    pub(crate) fn set_call(&mut self, id: CallId, state: CallState) {
        if let Some(call) = self.call(id) {
            call.state = state;
        }
    }
}

fn after_detail(call: &Call, outcome: &ToolOutcome, duration_ms: u64) -> HookDetail {
    let (tool_name, tool_input) = (call.name.clone(), call.input.clone());
    let tool_use_id = call.tool_use_id.clone();
    match outcome {
        Ok(output) => HookDetail::PostToolUse {
            tool_name,
            tool_input,
            tool_use_id,
            tool_response: output.structured.clone().unwrap_or_else(|| json!(output.content)),
            duration_ms,
        },
        Err(failure) => HookDetail::PostToolUseFailure {
            tool_name,
            tool_input,
            tool_use_id,
            error: failure.message.clone(),
            is_interrupt: false,
            duration_ms,
        },
    }
}
