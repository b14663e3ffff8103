//! How a round ends and what its result says.

use serde_json::json;
use tillerman_protocol::frame::{Frame, ResultFrame, ResultSubtype, SessionState};
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::{FailureKind, ModelFailure};
use tillerman_protocol::transcript::Entry;

use crate::config::Limits;
use crate::effect::{Effect, Sync};
use crate::ledger::Bill;
use crate::round::{Ending, Round, Stage};
use crate::session::Session;

const SHORTENED_PROMPT: usize = 200;
const THRASHING: &str = "The context window filled up again right after it was compacted, several \
     times in a row, so the round was stopped. Read less at a time, use fewer tools, or choose a \
     model with a larger window; the next prompt starts a new try.";

impl Session {
    /// Ends the round; a failure is first told to the hooks that listen for it.
    pub(crate) fn finish(&mut self, mut ending: Ending) {
        // An answer that cost more than there was is an answer, and the budget is spent.
        if ending == Ending::Completed && self.is_overspent() {
            ending = Ending::MaxBudget;
        }
        if let Ending::ApiError(failure) = &ending {
            let text = describe(failure);
            self.record_failure(&text, name_in_messages(failure.kind), failure.status);
            if self.config.agent.is_none() && self.is_hooked(HookEvent::StopFailure) {
                let last = self.round.as_ref().map(|round| round.last_text.clone());
                let last = last.filter(|last| !last.is_empty());
                let last_assistant_message = last.unwrap_or_else(|| text.clone());
                let error = failure.kind.name().to_owned();
                let error_details = Some(text);
                let run = self.run_hooks(HookDetail::StopFailure {
                    error,
                    error_details,
                    last_assistant_message,
                });
                return self.set_stage(Stage::Failing(run, Box::new(ending)));
            }
        }
        self.conclude(ending);
    }

    fn is_overspent(&self) -> bool {
        self.config.limits.max_budget_usd.is_some_and(|most| self.used().usd >= most)
    }

    /// Stores the books and shows the result; what waits starts once the step is done.
    pub(crate) fn conclude(&mut self, ending: Ending) {
        let Some(round) = self.round.take() else { return };
        self.disarm_deadline();
        self.conversation.seal();
        let session_id = self.config.session_id.clone();
        if ending != Ending::Cleared {
            self.append_costs();
        }
        // A round whose prompt never got past the hooks leaves the last one in place.
        let prompt_text = round.prompt_text.as_ref();
        if let Some((text, leaf_uuid)) = prompt_text.zip(self.chain.tip.clone()) {
            let last_prompt = shorten(text);
            self.append(Entry::LastPrompt { last_prompt, leaf_uuid, session_id });
        }
        self.effects.push(Effect::Sync(Sync::Finish));
        let prompts = round.prompts.clone();
        let result = self.result(*round, ending);
        self.last_result_failed = result.is_error;
        self.emit(Frame::Result(Box::new(result)));
        for uuid in prompts {
            self.emit_lifecycle(uuid, "completed");
        }
        self.has_answered = true;
        // Hosts take rest for the end, and agents in the background still have something to say.
        let wanted = self.queue.iter().any(|prompt| prompt.wants_answer);
        if !wanted && !self.tasks.has_agents_in_background() {
            self.emit_state(SessionState::Idle);
        }
    }

    /// Stores what the session has cost, so that totals survive a restart.
    pub(crate) fn append_costs(&mut self) {
        let state = self.ledger.to_state(self.config.session_id.clone());
        self.append(Entry::CostState(Box::new(state)));
    }

    /// Another agent spent something. Outside a round nothing else would store it.
    pub(crate) fn billed_elsewhere(&mut self, bill: &Bill) {
        self.ledger.enter_bill(&self.config.catalog, bill);
        if self.round.is_none() {
            self.append_costs();
        }
    }

    fn result(&mut self, round: Round, ending: Ending) -> ResultFrame {
        let verdict = Verdict::of(&ending, &round, &self.config.limits);
        let succeeded = verdict.subtype == ResultSubtype::Success;
        let (result, errors) = match (succeeded, verdict.text) {
            (true, text) => (Some(text), None),
            (false, text) => (None, Some(vec![text])),
        };
        let completed = matches!(ending, Ending::Completed | Ending::Prevented);
        let structured_output = round.structured.filter(|_| completed);
        // Nobody asked for a round that only the end of a task began.
        let origin = (round.tasks_heard_of > 0 && round.prompt_text.is_none())
            .then(|| ("origin".to_owned(), json!({"kind": "task-notification"})));
        let stop_reason = match ending {
            Ending::Deferred(_) => Some("tool_deferred".to_owned()),
            _ => round.stop_reason,
        };
        ResultFrame {
            subtype: verdict.subtype,
            is_error: verdict.is_error,
            duration_ms: self.now.millis_since(round.started_at),
            duration_api_ms: self.ledger.api_ms(),
            num_turns: match ending {
                Ending::Command(_) | Ending::Cleared | Ending::Blocked(_) => 0,
                Ending::Halted(_) if round.turns == 0 => 0,
                _ => round.user_frames + 1,
            },
            result,
            errors,
            stop_reason,
            total_cost_usd: self.ledger.total_usd(),
            usage: round.usage,
            model_usage: self.ledger.by_model().clone(),
            permission_denials: round.denials,
            terminal_reason: verdict.terminal_reason.to_owned(),
            api_error_status: match &ending {
                Ending::ApiError(failure) => failure.status,
                _ => None,
            },
            deferred_tool_use: match ending {
                Ending::Deferred(call) => Some(call),
                _ => None,
            },
            structured_output,
            user_message_uuids: round.prompts,
            session_id: self.config.session_id.clone(),
            uuid: self.ids.entry_id(),
            extra: origin.into_iter().collect(),
        }
    }
}

/// What a result says about an ending.
struct Verdict {
    subtype: ResultSubtype,
    is_error: bool,
    terminal_reason: &'static str,
    text: String,
}

impl Verdict {
    fn of(ending: &Ending, round: &Round, limits: &Limits) -> Self {
        use ResultSubtype::{
            ErrorDuringExecution, ErrorMaxBudgetUsd, ErrorMaxStructuredOutputRetries,
            ErrorMaxTurns, Success,
        };
        let said = || round.last_text.clone();
        let (subtype, is_error, terminal_reason, text) = match ending {
            Ending::Completed => (Success, false, "completed", answer(round)),
            Ending::Prevented => (Success, false, "stop_hook_prevented", answer(round)),
            Ending::Refused if round.last_text.is_empty() => {
                let text = "The model refused to answer this request.".to_owned();
                (Success, true, "refusal", text)
            }
            Ending::Refused => (Success, true, "refusal", said()),
            Ending::Cleared => {
                (Success, false, "completed", "The conversation starts over.".to_owned())
            }
            Ending::Command(answer) => (Success, false, "completed", answer.clone()),
            Ending::Blocked(text) => (Success, false, "blocked", text.clone()),
            Ending::Halted(reason) => (Success, false, "hook_stopped", reason.clone()),
            Ending::MaxTurns => {
                let most = limits.max_turns.unwrap_or_default();
                let text = format!("Reached maximum number of turns ({most})");
                (ErrorMaxTurns, true, "max_turns", text)
            }
            Ending::MaxBudget => {
                (ErrorMaxBudgetUsd, true, "budget_exhausted", used_up(ending, limits))
            }
            Ending::MaxTokens => {
                let reason = "token_budget_exhausted";
                (ErrorDuringExecution, true, reason, used_up(ending, limits))
            }
            Ending::MaxTotalTurns => {
                (ErrorMaxTurns, true, "turn_budget_exhausted", used_up(ending, limits))
            }
            Ending::Deadline => {
                let text = "The deadline was reached".to_owned();
                (ErrorDuringExecution, true, "deadline_exceeded", text)
            }
            Ending::Aborted { while_working } => {
                let reason = if *while_working { "aborted_tools" } else { "aborted_streaming" };
                (ErrorDuringExecution, true, reason, "The request was interrupted".to_owned())
            }
            Ending::Deferred(_) => (Success, false, "tool_deferred", said()),
            Ending::ApiError(failure) => (Success, true, "api_error", describe(failure)),
            Ending::Thrashing => {
                (ErrorDuringExecution, true, "rapid_refill_breaker", THRASHING.to_owned())
            }
            Ending::CompactionFailed(reason) => {
                (ErrorDuringExecution, true, "compaction_failed", reason.clone())
            }
            Ending::NoStructuredOutput => {
                let reason = "structured_output_retry_exhausted";
                let tries = round.structured_failures;
                let text = format!("No output matched the schema after {tries} tries");
                (ErrorMaxStructuredOutputRetries, true, reason, text)
            }
        };
        Self { subtype, is_error, terminal_reason, text }
    }
}

/// Which budget is used up; an agent knows that of dollars only by name.
fn used_up(ending: &Ending, limits: &Limits) -> String {
    let (most, shared) = match ending {
        Ending::MaxTokens => (
            limits.max_total_tokens.map(|most| format!("{most} tokens")),
            "The tokens that all agents share are used up",
        ),
        Ending::MaxTotalTurns => (
            limits
                .max_total_turns
                .map(|most| format!("{} for the session and its agents", turns(most))),
            "The turns that all agents share are used up",
        ),
        _ => {
            return limits.max_budget_usd.map_or_else(
                || "The budget that all agents share is spent".to_owned(),
                |most| format!("Reached maximum budget (${most})"),
            );
        }
    };
    most.map_or_else(|| shared.to_owned(), |most| format!("Reached the budget of {most}"))
}

/// What the agent delivered in the form that was asked for, else what it said last.
fn answer(round: &Round) -> String {
    round.structured.as_ref().map_or_else(|| round.last_text.clone(), ToString::to_string)
}

/// The kind of a failure, in the words that messages know.
const fn name_in_messages(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Overloaded => FailureKind::Server.name(),
        kind => kind.name(),
    }
}

/// A failure of the model for people: what happened and what to do.
fn describe(failure: &ModelFailure) -> String {
    let status = failure.status.map_or_else(String::new, |status| format!("{status} "));
    let hint = match failure.kind {
        FailureKind::Authentication => {
            "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and ANTHROPIC_BASE_URL."
        }
        FailureKind::Billing => "Check the account's balance.",
        FailureKind::RateLimit => "Wait a while, or lower the number of parallel sessions.",
        FailureKind::TooLong => "Start a new session, or compact this one.",
        FailureKind::ModelUnavailable => "Check the model name, or set a fallback model.",
        FailureKind::Connection => "Check the network and ANTHROPIC_BASE_URL.",
        FailureKind::Tls => "Check the certificates; the request was not sent without them.",
        FailureKind::Overloaded
        | FailureKind::InvalidRequest
        | FailureKind::Server
        | FailureKind::Stream => return format!("API Error: {status}{}", failure.message),
    };
    let message = failure.message.trim_end_matches('.');
    format!("API Error: {status}{message}. {hint}")
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHORTENED_PROMPT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn turns(most: u64) -> String {
    if most == 1 { "one turn".to_owned() } else { format!("{most} turns") }
}
