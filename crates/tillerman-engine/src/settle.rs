//! The results of calls and the end of a turn.

use serde_json::{Map, Value, json};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Content, ToolResult};
use tillerman_protocol::frame::{PermissionDenial, PermissionDenied, SystemDetail};
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::tool::ToolOutcome;
use tillerman_protocol::transcript::{Entry, SystemEntry};

use crate::calls::{Call, CallId, CallState};
use crate::conversation::never_blank;
use crate::effect::{Effect, Sync};
use crate::hooks::HookOutcome;
use crate::input::Author;
use crate::replacing::replacement;
use crate::replay::{DEFERRED, OUTCOME_UNKNOWN};
use crate::round::{Ending, Stage};
use crate::session::Session;

const INTERRUPTED: &str = "[Request interrupted by user]";
const INTERRUPTED_AT_WORK: &str = "[Request interrupted by user for tool use]";
const NEVER_BEGAN: &str = "The user interrupted before this call was run.";
const ABANDONED: &str = "The call was interrupted by the user. It may have taken effect in part.";
const TOO_LATE: &str = "Deadline exceeded";
const OUT_OF_TIME: &str = "Deadline exceeded while the call ran. It may have taken effect in part.";

/// Who ends a round in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaker {
    Person,
    Deadline,
}

impl Session {
    pub(crate) fn close_with_outcome(
        &mut self,
        id: CallId,
        outcome: ToolOutcome,
        replaced: Option<Value>,
    ) {
        match outcome {
            Ok(output) => {
                if let Some(mode) = output.switches_to {
                    self.switch_mode(mode);
                }
                let name = self.call(id).map(|call| call.name.clone()).unwrap_or_default();
                let (content, shown) = match replaced {
                    None => (output.content, output.structured),
                    Some(value) => match replacement(&name, output.structured.as_ref(), value) {
                        Ok(replacement) => replacement,
                        Err(why) => {
                            self.emit_notification("hook", &why);
                            (output.content, output.structured)
                        }
                    },
                };
                self.close_call(id, content, false, shown);
            }
            Err(failure) => {
                let structured = failure
                    .structured
                    .unwrap_or_else(|| Value::String(format!("Error: {}", failure.message)));
                self.close_call(id, Content::Text(failure.message), true, Some(structured));
            }
        }
    }

    /// Closes a call that was denied; the result frame lists it.
    pub(crate) fn deny_call(&mut self, id: CallId, message: &str) {
        let Some(call) = self.call(id) else { return };
        let denial = PermissionDenial {
            tool_name: call.name.clone(),
            tool_use_id: call.tool_use_id.clone(),
            tool_input: call.input.clone(),
        };
        self.with_round(|round| round.denials.push(denial));
        self.refuse_call(id, message);
    }

    /// Closes a call that did not run.
    pub(crate) fn refuse_call(&mut self, id: CallId, message: &str) {
        let structured = Value::String(format!("Error: {message}"));
        self.close_call(id, Content::Text(message.to_owned()), true, Some(structured));
    }

    fn close_call(&mut self, id: CallId, content: Content, is_error: bool, shown: Option<Value>) {
        let Some(call) = self.call(id) else { return };
        if matches!(call.state, CallState::Closed(_)) {
            return;
        }
        let tool_use_id = call.tool_use_id.clone();
        let (entry, name) = (call.entry.clone(), call.name.clone());
        let result = ToolResult { tool_use_id, content: never_blank(content), is_error };
        call.state = CallState::Closed(Box::new(result.clone()));
        self.note_structured_output(&name, is_error, shown.as_ref());
        self.record_result(result, &entry, shown);
    }

    pub(crate) fn report_denial(&mut self, id: CallId, message: &str, reason_type: &str) {
        let Some(call) = self.call(id) else { return };
        let denied = PermissionDenied {
            tool_name: call.name.clone(),
            tool_use_id: call.tool_use_id.clone(),
            decision_reason_type: Some(reason_type.to_owned()),
            decision_reason: None,
            message: message.to_owned(),
        };
        self.emit_system(SystemDetail::PermissionDenied(denied));
        self.notice_denial(id, message);
    }

    /// Ends the turn once the response is whole and every call is settled.
    pub(crate) fn end_turn_if_settled(&mut self) {
        let Some(round) = self.round.as_ref() else { return };
        if !matches!(round.stage, Stage::Working) || !round.calls.all_settled() {
            return;
        }
        let deferred = round.calls.iter().find(|call| matches!(call.state, CallState::Deferred));
        let deferred = deferred
            .map(|call| json!({"id": call.tool_use_id, "name": call.name, "input": call.input}));
        self.effects.push(Effect::Sync(Sync::Begin));
        if let Some(deferred) = deferred {
            self.remember_deferred();
            return self.finish(Ending::Deferred(deferred));
        }
        if !self.is_hooked(HookEvent::PostToolBatch) {
            self.hand_over_results();
            return self.next_turn();
        }
        let tool_calls = self.batch_summary();
        self.hand_over_results();
        let run = self.run_hooks(HookDetail::PostToolBatch { tool_calls });
        self.set_stage(Stage::BatchHooks(run));
    }

    pub(crate) fn batch_judged(&mut self, outcome: HookOutcome) {
        let stop = outcome.halt.or(outcome.block);
        self.with_round(|round| {
            round.context.extend(outcome.context);
            round.halt = round.halt.take().or(stop);
        });
        self.next_turn();
    }

    fn next_turn(&mut self) {
        if let Some(reason) = self.round.as_mut().and_then(|round| round.halt.take()) {
            return self.finish(Ending::Halted(reason));
        }
        if self.has_structured_output() {
            return self.try_to_stop();
        }
        if self.has_tried_enough() {
            return self.finish(Ending::NoStructuredOutput);
        }
        // A prompt that waits must not be swallowed by a round that cannot go on.
        if let Some(limit) = self.limit_reached() {
            return self.finish(limit);
        }
        // What came in while the tools ran reaches the model now, not after the round.
        let waiting = self.take_waiting();
        if waiting.is_empty() { self.request() } else { self.submit(waiting) }
    }

    /// Moves the results of the turn into the conversation.
    pub(crate) fn hand_over_results(&mut self) {
        let Some(round) = self.round.as_mut() else { return };
        if !round.calls.is_empty() {
            let results = round.calls.take_results();
            self.conversation.answer(results, OUTCOME_UNKNOWN);
        }
    }

    /// Cancels whatever still works for this turn and closes its calls, deferred ones included.
    pub(crate) fn abandon_calls(&mut self, breaker: Breaker) {
        let (cut, never_began) = match breaker {
            Breaker::Person => (ABANDONED, NEVER_BEGAN),
            Breaker::Deadline => (OUT_OF_TIME, TOO_LATE),
        };
        let Some(round) = self.round.as_ref() else { return };
        let is_open = |call: &&Call| !matches!(call.state, CallState::Closed(_));
        let calls: Vec<Call> = round.calls.iter().filter(is_open).cloned().collect();
        for call in calls {
            self.cancel_work(&call);
            match call.state {
                // The tool is done; only hooks were still looking at what it did.
                CallState::AfterHooks(_, outcome) => {
                    self.close_with_outcome(call.id, *outcome, None);
                }
                CallState::Running => {
                    self.notice_interruption(&call, cut);
                    self.refuse_call(call.id, cut);
                }
                _ => self.refuse_call(call.id, never_began),
            }
        }
    }

    pub(crate) fn cancel_work(&mut self, call: &Call) {
        match call.state {
            CallState::BeforeHooks(run)
            | CallState::PermissionHooks(run, _)
            | CallState::AfterHooks(run, _) => self.effects.push(Effect::CancelHooks { run }),
            CallState::Asking(ask) => self.effects.push(Effect::CancelAsk { ask }),
            CallState::Running => self.effects.push(Effect::CancelTool { call: call.id }),
            _ => {}
        }
    }

    pub(crate) fn mark_interruption(&mut self, while_working: bool) {
        let text = if while_working { INTERRUPTED_AT_WORK } else { INTERRUPTED };
        self.tell_aloud(text, Author::Person);
    }

    /// Abandons a response that is still coming in.
    pub(crate) fn stop_response(&mut self) {
        let Some(round) = self.round.as_mut() else { return };
        match std::mem::replace(&mut round.stage, Stage::Working) {
            Stage::Responding(response) => {
                self.effects.push(Effect::CancelModel { response: response.id });
                self.keep_partial_text(&response);
                self.settle_accounts(&response);
            }
            Stage::Reserving(response) => self.effects.push(Effect::CancelReserve { response }),
            other => round.stage = other,
        }
    }

    /// Deferred calls stay unanswered in the transcript; a later prompt finds them as orphans.
    fn remember_deferred(&mut self) {
        let Some(round) = self.round.as_ref() else { return };
        let deferred = round.calls.iter().filter(|call| matches!(call.state, CallState::Deferred));
        let orphans: Vec<_> =
            deferred.map(|call| (call.tool_use_id.clone(), call.entry.clone())).collect();
        let ids: Vec<ToolUseId> = orphans.iter().map(|(id, _)| id.clone()).collect();
        let uuid = self.ids.entry_id();
        let note = SystemEntry {
            link: self.link(uuid, None),
            subtype: DEFERRED.to_owned(),
            extra: Map::from_iter([("toolUseIds".to_owned(), json!(ids))]),
        };
        self.append(Entry::System(Box::new(note)));
        self.chain.orphans.extend(orphans);
        self.chain.deferred.extend(ids);
        self.hand_over_results();
    }

    fn batch_summary(&self) -> Vec<Value> {
        let calls = self.round.iter().flat_map(|round| round.calls.iter());
        let summary = |call: &Call| match &call.state {
            CallState::Closed(result) => json!({
                "tool_name": call.name,
                "tool_input": call.input,
                "tool_use_id": call.tool_use_id,
                "tool_response": result.content,
            }),
            _ => Value::Null,
        };
        calls.map(summary).collect()
    }
}
