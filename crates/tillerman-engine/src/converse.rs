//! Asking the model and making sense of its answers.

use serde_json::Value;
use tillerman_protocol::content::Block;
use tillerman_protocol::frame::{ApiRetry, SystemDetail};
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest, Thinking};
use tillerman_protocol::stream::{MessageHead, StreamEvent};

use crate::calls::{HookRunId, ResponseId, TimerId};
use crate::config::Books;
use crate::effect::Effect;
use crate::hooks::HookOutcome;
use crate::input::Author;
use crate::ledger::Bill;
use crate::pool::{Grant, Share};
use crate::response::{Progress, Response};
use crate::retry;
use crate::round::{Ending, Stage};
use crate::session::Session;
use crate::switching::{NextModel, Switching};

const MOST_RECOVERIES: u32 = 3;
/// However full the window seems, an answer gets this much.
const LEAST_OUTPUT_ROOM: u64 = 4_096;
const GO_ON_AFTER_LIMIT: &str = "Your answer reached the output limit and was cut off. Go on exactly \
     where it stopped, without repeating anything, and do the rest of the work in smaller pieces.";
const GO_ON_AFTER_CUT: &str = "The connection broke while you were answering. Go on exactly where \
     your answer stopped, without repeating anything.";

/// Whether a failed request is made again.
pub(crate) enum Repetition {
    /// Once this timer fires.
    After(TimerId),
    /// At once, by another model.
    WithAnotherModel,
    /// By another model, once hooks have agreed.
    OnceAllowed(HookRunId),
    /// No.
    None,
}

impl Session {
    /// Begins a turn, unless a limit forbids it.
    pub(crate) fn request(&mut self) {
        if let Some(limit) = self.limit_reached() {
            return self.finish(limit);
        }
        self.arm_deadline();
        let Some(round) = self.round.as_mut() else { return };
        round.turns += 1;
        round.turn_entered = false;
        round.retries = 0;
        let context = std::mem::take(&mut round.context);
        for text in self.threshold.take_context() {
            self.tell(&text, Author::Engine);
        }
        for text in context.into_iter().chain(self.budget_news()) {
            self.tell(&text, Author::Engine);
        }
        self.call_model();
    }

    /// Makes the request that is due, once there is room for it.
    pub(crate) fn call_model(&mut self) {
        if self.is_full() { self.make_room() } else { self.reserve_request() }
    }

    /// Asks the model, once the money for it is set aside where several share a budget.
    pub(crate) fn reserve_request(&mut self) {
        let response = ResponseId(self.next());
        match self.config.books {
            Books::Own => self.send_request(response),
            Books::Shared => {
                let share = Share { turns: self.turns_of_request(), ..self.estimate() };
                self.set_stage(Stage::Reserving(response));
                self.effects.push(Effect::Reserve { response, share });
            }
        }
    }

    pub(crate) fn reserved(&mut self, response: ResponseId, grant: Grant, spent: Share) {
        let Some(round) = self.round.as_mut() else { return };
        let compaction = match std::mem::replace(&mut round.stage, Stage::Between) {
            Stage::Reserving(held) if held == response => None,
            Stage::Compacting(compaction) if compaction.reserves(response) => Some(compaction),
            other => return round.stage = other,
        };
        self.note_tree(spent);
        match (grant, compaction) {
            (Grant::Granted, None) => self.send_request(response),
            (Grant::Granted, Some(compaction)) => self.send_summary_request(compaction, response),
            (Grant::Refused(shortage), None) => self.finish(Ending::of_shortage(shortage)),
            (Grant::Refused(shortage), Some(_)) => {
                self.give_up_compaction(Ending::of_shortage(shortage));
            }
        }
    }

    fn send_request(&mut self, id: ResponseId) {
        if self.config.echo.partial_messages {
            self.emit_system(SystemDetail::status("requesting"));
        }
        let request = self.model_request();
        self.set_stage(Stage::Responding(Box::new(Response::new(id, self.now))));
        self.effects.push(Effect::CallModel { response: id, request: Box::new(request) });
    }

    /// What the model would be asked now.
    pub(crate) fn model_request(&self) -> ModelRequest {
        let model = self.round.as_ref().map_or(&self.choices.model, |round| &round.model).clone();
        let config = &self.config;
        ModelRequest {
            max_tokens: self.output_room(&model),
            model,
            system: config.system.clone(),
            messages: self.conversation.messages().to_vec(),
            tools: config.tools.clone(),
            thinking: self.choices.thinking,
            effort: config.effort.clone().filter(|_| self.choices.thinking != Thinking::Disabled),
            betas: config.betas.clone(),
            session: config.session_id.to_string(),
            extra_body: config.extra_body.clone(),
        }
    }

    /// Tokens a response may have: no more than fit behind the request.
    fn output_room(&self, model: &str) -> u64 {
        let config = &self.config;
        let most = self.most_output(model);
        let window = config.compaction.window_of(&config.catalog, model);
        let left = window.saturating_sub(self.reading());
        most.min(left.max(LEAST_OUTPUT_ROOM))
    }

    pub(crate) fn model_reported(&mut self, id: ResponseId, event: ModelEvent) {
        // The response is taken out while it is worked on, so that reports of an abandoned one
        // find nothing to attach to.
        let Some(round) = self.round.as_mut() else { return };
        let mut response = match std::mem::replace(&mut round.stage, Stage::Between) {
            Stage::Responding(response) if response.id == id => response,
            Stage::Compacting(compaction) if compaction.awaits(id) => {
                return self.summary_reported(compaction, event);
            }
            other => {
                round.stage = other;
                return;
            }
        };
        match event {
            ModelEvent::Accepted { request_id } => {
                response.request_id = request_id;
                self.set_stage(Stage::Responding(response));
            }
            ModelEvent::Stream(event) => self.stream_advanced(response, event),
            ModelEvent::Failed(failure) => self.response_failed(&response, failure),
        }
    }

    fn stream_advanced(&mut self, mut response: Box<Response>, mut event: StreamEvent) {
        if let StreamEvent::MessageStart { message } = &mut event {
            self.tell_apart(message);
        }
        let progress = match response.feed(&event) {
            Ok(progress) => progress,
            Err(nonsense) => {
                self.effects.push(Effect::CancelModel { response: response.id });
                let message = format!("the model's stream made no sense: {}", nonsense.0);
                let failure = ModelFailure::new(FailureKind::Stream, message);
                return self.response_failed(&response, failure);
            }
        };
        // Hosts expect the whole block before the event that ends it.
        if let Progress::Block(block) = &progress {
            self.block_done(&mut response, block.clone());
        }
        if matches!(progress, Progress::Outcome | Progress::Whole) {
            self.settle_broken_calls(&mut response);
        }
        if self.config.echo.partial_messages && !matches!(event, StreamEvent::Ping) {
            let first = matches!(event, StreamEvent::MessageStart { .. });
            let waited = first.then(|| self.now.millis_since(response.requested_at));
            self.emit_stream_event(event, waited);
        }
        if progress == Progress::Whole {
            self.response_ended(&response);
        } else {
            self.set_stage(Stage::Responding(response));
            self.start_calls();
        }
    }

    /// A transcript tells responses apart by their ids, and not every provider gives each its own.
    fn tell_apart(&mut self, head: &mut MessageHead) {
        if head.id.is_empty() || head.id == self.chain.response {
            head.id = format!("msg_{}", self.ids.entry_id());
        }
    }

    fn block_done(&mut self, response: &mut Response, block: Block) {
        if block.is_blank() {
            return;
        }
        if let Block::ToolUse { id, .. } = &block
            && self.conversation.has_call(id)
        {
            return;
        }
        let entry = self.record_block(response, block.clone());
        if let Block::Text { text, .. } = &block {
            self.with_round(|round| round.last_text.clone_from(text));
        }
        self.conversation.hear(block.clone());
        if let Block::ToolUse { id, name, input } = block {
            self.open_call(id, name, input, entry);
        }
    }

    /// Calls whose input was not JSON: part of an answer that hit the limit, or a mistake that the
    /// model is told about.
    fn settle_broken_calls(&mut self, response: &mut Response) {
        let broken = std::mem::take(&mut response.broken_calls);
        if response.stop_reason.as_deref() == Some("max_tokens") {
            return;
        }
        for call in broken {
            let input = Value::Object(serde_json::Map::new());
            let (id, name) = (call.id, call.name);
            if self.conversation.has_call(&id) {
                continue;
            }
            let block = Block::ToolUse { id: id.clone(), name: name.clone(), input: input.clone() };
            let entry = self.record_block(response, block.clone());
            self.conversation.hear(block);
            let call = self.open_call(id, name, input, entry);
            self.refuse_call(
                call,
                "The input of this call was not a valid JSON object. Send it again.",
            );
        }
    }

    fn response_ended(&mut self, response: &Response) {
        self.settle_accounts(response);
        self.context.guard.responded();
        let answered = self.conversation.is_answering();
        self.conversation.seal();
        let Some(round) = self.round.as_mut() else { return };
        round.stop_reason.clone_from(&response.stop_reason);
        round.stage = Stage::Working;
        if round.calls.is_empty() {
            self.answered_without_calls(answered);
        } else {
            self.start_calls();
            self.end_turn_if_settled();
        }
    }

    pub(crate) fn answered_without_calls(&mut self, answered: bool) {
        let Some(round) = self.round.as_ref() else { return };
        let stop_reason = round.stop_reason.clone();
        let (recoveries, empty_responses) = (round.recoveries, round.empty_responses);
        match stop_reason.as_deref() {
            // One that explains itself has answered; another model would contradict it.
            Some("refusal") if !answered => self.refused_to_answer(),
            Some("refusal") => self.finish(Ending::Refused),
            Some("max_tokens") if recoveries < MOST_RECOVERIES => {
                self.with_round(|round| round.recoveries += 1);
                self.tell(GO_ON_AFTER_LIMIT, Author::Engine);
                self.request();
            }
            Some("pause_turn") if self.conversation.has_work_elsewhere() => self.request(),
            _ if !answered && empty_responses == 0 => {
                self.with_round(|round| round.empty_responses += 1);
                self.request();
            }
            _ => self.conclude_answer(),
        }
    }

    /// Has the next model answer where one refused without a word.
    fn refused_to_answer(&mut self) {
        match self.next_model(None) {
            NextModel::Asked(run) => self.set_stage(Stage::Switching(run, Switching::Refusal)),
            NextModel::None => self.finish(Ending::Refused),
            NextModel::Taken => match self.exhausted() {
                Some(ending) => self.finish(ending),
                None => self.call_model(),
            },
        }
    }

    fn conclude_answer(&mut self) {
        if self.wants_structured_output() {
            self.ask_for_structured_output();
        } else {
            self.try_to_stop();
        }
    }

    pub(crate) fn try_to_stop(&mut self) {
        let agent = self.config.agent.as_ref();
        let event = agent.map_or(HookEvent::Stop, |_| HookEvent::SubagentStop);
        if !self.is_hooked(event) {
            return self.try_to_rest();
        }
        let Some(round) = self.round.as_ref() else { return };
        let stop_hook_active = round.stop_blocks > 0;
        let last_assistant_message = round.last_text.clone();
        let detail = match agent {
            None => HookDetail::Stop {
                stop_hook_active,
                last_assistant_message,
                background_tasks: self.tasks.in_background(),
                session_crons: Vec::new(),
            },
            Some(agent) => HookDetail::SubagentStop {
                stop_hook_active,
                agent_transcript_path: agent.transcript_path.clone(),
                last_assistant_message,
                background_tasks: self.tasks.in_background(),
                session_crons: Vec::new(),
            },
        };
        let run = self.run_hooks(detail);
        self.set_stage(Stage::Stopping(run));
    }

    pub(crate) fn stop_judged(&mut self, outcome: HookOutcome) {
        let has_stopped = outcome.halt.is_some();
        if !self.is_kept_working("Stop", outcome) {
            if has_stopped { self.finish(Ending::Prevented) } else { self.try_to_rest() }
        }
    }

    fn response_failed(&mut self, response: &Response, failure: ModelFailure) {
        self.settle_accounts(response);
        let Some(round) = self.round.as_mut() else { return };
        if !round.calls.is_empty() {
            // Complete calls may have run already; their results are worth more than a repetition.
            round.stage = Stage::Working;
            self.conversation.seal();
            let text =
                format!("The answer was cut off ({failure}); going on with its whole calls.");
            self.emit_notification("stream", &text);
            self.start_calls();
            return self.end_turn_if_settled();
        }
        if !self.conversation.is_answering() {
            return self.repeat_or_give_up(response, failure);
        }
        if round.recoveries < MOST_RECOVERIES {
            round.recoveries += 1;
            self.tell(GO_ON_AFTER_CUT, Author::Engine);
            return self.request();
        }
        self.keep_partial_text(response);
        self.finish(Ending::ApiError(Box::new(failure)));
    }

    pub(crate) fn repeat_or_give_up(&mut self, response: &Response, failure: ModelFailure) {
        if let Some(ending) = self.exhausted() {
            self.keep_partial_text(response);
            return self.finish(ending);
        }
        if self.shrink_after_overflow(&failure) {
            return;
        }
        match self.repetition(&failure) {
            Repetition::After(timer) => self.set_stage(Stage::BackingOff(timer)),
            Repetition::WithAnotherModel => self.call_model(),
            Repetition::OnceAllowed(run) => {
                let switching = Switching::Failure(Box::new(response.clone()), Box::new(failure));
                self.set_stage(Stage::Switching(run, switching));
            }
            Repetition::None => {
                self.keep_partial_text(response);
                self.finish(Ending::ApiError(Box::new(failure)));
            }
        }
    }

    /// Decides whether a failed request is made again, and tells the host.
    pub(crate) fn repetition(&mut self, failure: &ModelFailure) -> Repetition {
        let most = self.config.limits.max_retries;
        let has_another = self.next_in_chain().is_some();
        let Some(round) = self.round.as_mut() else { return Repetition::None };
        let gives_way = has_another && retry::another_model_is_better(failure.kind, round.retries);
        if !gives_way
            && round.retries < most
            && let Some(after_ms) = retry::delay(failure, round.retries + 1, &mut self.ids)
        {
            round.retries += 1;
            self.conversation.seal();
            let retry = ApiRetry {
                attempt: round.retries,
                max_retries: most,
                retry_delay_ms: after_ms,
                error_status: failure.status,
                error: failure.kind.name().to_owned(),
            };
            self.emit_system(SystemDetail::ApiRetry(retry));
            let timer = TimerId(self.next());
            self.effects.push(Effect::StartTimer { timer, after_ms });
            return Repetition::After(timer);
        }
        let helps = retry::another_model_may_help(failure.kind);
        match helps.then(|| self.next_model(Some(failure))) {
            Some(NextModel::Taken) => Repetition::WithAnotherModel,
            Some(NextModel::Asked(run)) => Repetition::OnceAllowed(run),
            Some(NextModel::None) | None => Repetition::None,
        }
    }

    pub(crate) fn timer_fired(&mut self, timer: TimerId) {
        let Some(round) = self.round.as_mut() else { return };
        match std::mem::replace(&mut round.stage, Stage::Between) {
            Stage::BackingOff(held) if held == timer => self.call_model(),
            Stage::Compacting(compaction) if compaction.pauses(timer) => {
                self.ask_for_summary(compaction);
            }
            other => round.stage = other,
        }
    }

    /// Keeps the text of a block that never became complete, so that nothing people saw is lost.
    pub(crate) fn keep_partial_text(&mut self, response: &Response) {
        if let Some(text) = response.partial_text() {
            let block = Block::text(text);
            self.record_block(response, block.clone());
            self.conversation.hear(block);
        }
    }

    pub(crate) fn settle_accounts(&mut self, response: &Response) {
        if response.head.is_some() {
            let counted = response.usage.input_total() + response.usage.output_tokens;
            let messages = self.message_tokens();
            self.context.meter.count(counted, messages);
        }
        let turns = self.turns_of_request();
        self.with_round(|round| round.turn_entered = true);
        self.enter_response(response, turns);
    }

    /// Enters what a response cost that is no part of the conversation.
    pub(crate) fn settle_side_accounts(&mut self, response: &Response) {
        self.enter_response(response, 0);
    }

    fn enter_response(&mut self, response: &Response, turns: u64) {
        let Some(round) = self.round.as_mut() else { return };
        round.usage.add(&response.usage);
        let model = round.model.clone();
        self.enter_costs(&model, response, turns);
    }

    pub(crate) fn enter_costs(&mut self, model: &str, response: &Response, turns: u64) {
        let bill = Bill {
            response: response.id,
            model: model.to_owned(),
            usage: response.usage.clone(),
            usd: self.config.catalog.cost(model, &response.usage),
            api_ms: self.now.millis_since(response.requested_at),
            turns,
        };
        self.ledger.enter_bill(&self.config.catalog, &bill);
        if self.config.books == Books::Shared {
            self.effects.push(Effect::Settle(Box::new(bill)));
        }
    }
}
