//! Making room: old outputs are cleared, then the conversation is replaced by a summary of it.

use std::collections::{HashSet, VecDeque};

use tillerman_protocol::ToolUseId;
use tillerman_protocol::frame::SystemDetail;
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::stream::StreamEvent;

use crate::calls::ResponseId;
use crate::compaction::{Compaction, Form, Step, Trigger};
use crate::config::Books;
use crate::converse::Repetition;
use crate::effect::Effect;
use crate::hooks::HookOutcome;
use crate::input::Author;
use crate::meter;
use crate::response::{Progress, Response};
use crate::round::{Ending, Stage};
use crate::session::Session;
use crate::summary::{self, Material};
use crate::switching::Switching;
use crate::window::CompactionMode;

/// A request that takes more than this share of the window may well be too long already.
const SAFE_PERCENT: u64 = 95;
/// How often in a round a request that was too long is answered by compaction.
const MOST_OVERFLOWS: u32 = 2;

impl Session {
    /// Tokens that the next request would carry.
    pub(crate) fn reading(&self) -> u64 {
        let head = self.system_tokens() + meter::of_tools(self.config.tools.iter());
        self.context.meter.reading(head, self.message_tokens())
    }

    pub(crate) fn system_tokens(&self) -> u64 {
        meter::tokens(self.config.system.iter().map(|block| block.text.len()).sum())
    }

    pub(crate) fn message_tokens(&self) -> u64 {
        meter::of_messages(self.conversation.messages().iter().map(|message| &**message))
    }

    pub(crate) fn threshold(&self) -> u64 {
        let model = self.round.as_ref().map_or(&self.choices.model, |round| &round.model);
        self.config.compaction.threshold(&self.config.catalog, model)
    }

    /// Whether the context has to shrink before the next request.
    pub(crate) fn is_full(&self) -> bool {
        let refused = self.round.as_ref().is_none_or(|round| round.compaction_refused);
        !refused
            && self.can_compact()
            && !self.context.guard.is_fresh()
            && self.reading() >= self.threshold()
    }

    fn can_compact(&self) -> bool {
        let automatic = self.config.compaction.mode == CompactionMode::Automatic;
        automatic && self.conversation.has_answers()
    }

    /// Makes room for the request that is due, and then makes it.
    pub(crate) fn make_room(&mut self) {
        if self.context.guard.trips() {
            return self.finish(Ending::Thrashing);
        }
        if self.clear_old_outputs() {
            return self.reserve_request();
        }
        self.begin_compaction(Trigger::Auto, String::new(), self.usual_form());
    }

    /// Answers a request that was too long with compaction. False when that would not help.
    pub(crate) fn shrink_after_overflow(&mut self, failure: &ModelFailure) -> bool {
        if failure.kind != FailureKind::TooLong || !self.can_compact() {
            return false;
        }
        let Some(round) = self.round.as_mut() else { return false };
        round.overflows += 1;
        if round.overflows > MOST_OVERFLOWS || round.compaction_refused {
            return false;
        }
        self.begin_compaction(Trigger::Auto, String::new(), Form::Retold(self.retold_room()));
        true
    }

    /// Compacts because a command says so; the round ends with it.
    pub(crate) fn compact_by_command(&mut self, wishes: &str) {
        if self.config.compaction.mode == CompactionMode::Off {
            let text = "Compaction is switched off (DISABLE_COMPACT), so nothing was changed.";
            return self.finish(Ending::Command(text.to_owned()));
        }
        if !self.conversation.has_answers() {
            let text = "There is nothing to compact yet.".to_owned();
            return self.finish(Ending::Command(text));
        }
        if let Some(ending) = self.exhausted() {
            return self.finish(ending);
        }
        self.arm_deadline();
        self.begin_compaction(Trigger::Manual, wishes.to_owned(), self.usual_form());
    }

    fn usual_form(&self) -> Form {
        let model = self.round.as_ref().map_or(&self.choices.model, |round| &round.model);
        let window = self.config.compaction.window_of(&self.config.catalog, model);
        let safe = self.reading() <= window * SAFE_PERCENT / 100;
        if safe { Form::Whole } else { Form::Retold(self.retold_room()) }
    }

    /// Tokens that a retold conversation may take: well below what was too much.
    fn retold_room(&self) -> u64 {
        (self.threshold() * 2 / 3).min(self.message_tokens() / 2)
    }

    /// Clears old outputs, if that is enough.
    fn clear_old_outputs(&mut self) -> bool {
        let outputs = self.conversation.clearable(self.config.compaction.newest_outputs);
        let saved: u64 = outputs.iter().map(|(_, tokens)| tokens).sum();
        let before = self.reading();
        if before.saturating_sub(saved) > self.threshold() * 3 / 4 {
            return false;
        }
        let calls: HashSet<ToolUseId> = outputs.into_iter().map(|(call, _)| call).collect();
        self.record_clearing(&calls, before, saved);
        self.conversation.clear_outputs(&calls);
        self.context.meter.shrink(saved);
        true
    }

    fn begin_compaction(&mut self, trigger: Trigger, wishes: String, form: Form) {
        let mut compaction = Box::new(Compaction::new(trigger, wishes, self.reading(), form));
        self.answer_orphans();
        self.conversation.seal();
        self.with_round(|round| round.retries = 0);
        self.emit_system(SystemDetail::status("compacting"));
        if !self.is_hooked(HookEvent::PreCompact) {
            return self.ask_for_summary(compaction);
        }
        let custom_instructions =
            Some(compaction.wishes.clone()).filter(|wishes| !wishes.is_empty());
        let trigger = trigger.name().to_owned();
        let run = self.run_hooks(HookDetail::PreCompact { trigger, custom_instructions });
        compaction.step = Step::Permission(run);
        self.set_stage(Stage::Compacting(compaction));
    }

    pub(crate) fn ask_for_summary(&mut self, mut compaction: Box<Compaction>) {
        if let Some(ending) = self.exhausted() {
            return self.give_up_compaction(ending);
        }
        let id = ResponseId(self.next());
        match self.config.books {
            Books::Own => self.send_summary_request(compaction, id),
            Books::Shared => {
                let share = self.estimate();
                compaction.step = Step::Share(id);
                self.set_stage(Stage::Compacting(compaction));
                self.effects.push(Effect::Reserve { response: id, share });
            }
        }
    }

    /// Ends the round because there is nothing left for a summary.
    pub(crate) fn give_up_compaction(&mut self, ending: Ending) {
        self.emit_compaction_failure(ending.shortage_text());
        self.finish(ending);
    }

    pub(crate) fn send_summary_request(&mut self, mut compaction: Box<Compaction>, id: ResponseId) {
        let mut request = self.model_request();
        let wishes = &compaction.wishes;
        request.messages = match compaction.form {
            Form::Whole => summary::whole(&self.conversation, wishes),
            Form::Retold(room) => {
                request.system = Vec::new();
                request.tools = [].into();
                summary::retold(&self.conversation, wishes, room)
            }
        };
        compaction.summary.clear();
        compaction.step = Step::Summary(Box::new(Response::new(id, self.now)));
        self.set_stage(Stage::Compacting(compaction));
        self.effects.push(Effect::CallModel { response: id, request: Box::new(request) });
    }

    pub(crate) fn summary_reported(&mut self, mut compaction: Box<Compaction>, event: ModelEvent) {
        let Step::Summary(mut response) = std::mem::replace(&mut compaction.step, Step::Between)
        else {
            return self.set_stage(Stage::Compacting(compaction));
        };
        let progress = match event {
            ModelEvent::Accepted { .. } => Ok(Progress::Nothing),
            ModelEvent::Stream(event) => self.summary_advanced(&mut response, &event),
            ModelEvent::Failed(failure) => Err(failure),
        };
        match progress {
            Ok(Progress::Whole) => {
                self.settle_side_accounts(&response);
                self.summary_ended(compaction);
            }
            Ok(progress) => {
                if let Progress::Block(block) = progress
                    && let Some(text) = block.as_text()
                {
                    compaction.summary.push_str(text);
                }
                compaction.step = Step::Summary(response);
                self.set_stage(Stage::Compacting(compaction));
            }
            Err(failure) => {
                self.settle_side_accounts(&response);
                self.summary_failed(compaction, failure);
            }
        }
    }

    fn summary_advanced(
        &mut self,
        response: &mut Response,
        event: &StreamEvent,
    ) -> Result<Progress, ModelFailure> {
        response.feed(event).map_err(|nonsense| {
            self.effects.push(Effect::CancelModel { response: response.id });
            let message = format!("the model's stream made no sense: {}", nonsense.0);
            ModelFailure::new(FailureKind::Stream, message)
        })
    }

    fn summary_ended(&mut self, mut compaction: Box<Compaction>) {
        if !compaction.summary.trim().is_empty() {
            return self.apply_compaction(compaction);
        }
        if compaction.form == Form::Whole && compaction.cut(self.retold_room()) {
            return self.ask_for_summary(compaction);
        }
        match compaction.trigger {
            // The round must go on, so it goes on with what is known without the model.
            Trigger::Auto => self.apply_compaction(compaction),
            Trigger::Manual => {
                let text = "The model wrote no summary, so nothing was compacted. Try again.";
                self.emit_compaction_failure(text);
                self.finish(Ending::CompactionFailed(text.to_owned()));
            }
        }
    }

    pub(crate) fn summary_failed(
        &mut self,
        mut compaction: Box<Compaction>,
        failure: ModelFailure,
    ) {
        if failure.kind == FailureKind::TooLong && compaction.cut(self.retold_room()) {
            return self.ask_for_summary(compaction);
        }
        if let Some(ending) = self.exhausted() {
            return self.give_up_compaction(ending);
        }
        match self.repetition(&failure) {
            Repetition::After(timer) => {
                compaction.step = Step::Pause(timer);
                self.set_stage(Stage::Compacting(compaction));
            }
            Repetition::WithAnotherModel => self.ask_for_summary(compaction),
            Repetition::OnceAllowed(run) => {
                let switching = Switching::Summary(compaction, Box::new(failure));
                self.set_stage(Stage::Switching(run, switching));
            }
            Repetition::None => {
                self.emit_compaction_failure(&failure.message);
                self.finish(Ending::ApiError(Box::new(failure)));
            }
        }
    }

    /// Replaces the conversation; the transcript keeps all of it.
    fn apply_compaction(&mut self, mut compaction: Box<Compaction>) {
        let kept = self.conversation.keepsakes();
        let asked = self.round.as_ref().map_or(&[][..], |round| &round.asked);
        let blocks = summary::beginning(&Material {
            conversation: &self.conversation,
            kept: &kept,
            summary: &compaction.summary,
            asked,
            transcript: &self.config.origin.transcript_path,
            threshold: self.threshold(),
        });
        let head = self.system_tokens() + meter::of_tools(self.config.tools.iter());
        compaction.post_tokens = head + meter::of_blocks(&blocks);
        self.record_compaction(&compaction, &blocks, &kept);
        self.conversation.begin_anew(blocks, kept);
        self.context.meter.forget();
        self.context.guard.compacted();
        self.with_round(|round| round.retries = 0);
        let news = self.compaction_news(&compaction);
        self.tell_hooks_of_compaction(compaction, news);
    }

    fn compaction_news(&self, compaction: &Compaction) -> VecDeque<HookDetail> {
        let trigger = compaction.trigger.name().to_owned();
        let compact_summary = compaction.summary.trim().to_owned();
        let (source, model) = ("compact".to_owned(), self.choices.model.clone());
        let news = [
            (HookEvent::PostCompact, HookDetail::PostCompact { trigger, compact_summary }),
            (HookEvent::SessionStart, HookDetail::SessionStart { source, model }),
        ];
        news.into_iter().filter(|(event, _)| self.is_hooked(*event)).map(|(_, news)| news).collect()
    }

    fn tell_hooks_of_compaction(
        &mut self,
        mut compaction: Box<Compaction>,
        mut news: VecDeque<HookDetail>,
    ) {
        if let Some(detail) = news.pop_front() {
            let run = self.run_hooks(detail);
            compaction.step = Step::News(run, news);
            return self.set_stage(Stage::Compacting(compaction));
        }
        match compaction.trigger {
            Trigger::Manual => {
                let (before, after) = (compaction.pre_tokens, compaction.post_tokens);
                let text = format!("Compacted the conversation: {before} tokens became {after}.");
                self.finish(Ending::Command(text));
            }
            Trigger::Auto => match self.exhausted() {
                Some(ending) => self.finish(ending),
                None => self.reserve_request(),
            },
        }
    }

    pub(crate) fn compaction_hooks_answered(
        &mut self,
        mut compaction: Box<Compaction>,
        outcome: HookOutcome,
    ) {
        match std::mem::replace(&mut compaction.step, Step::Between) {
            Step::Permission(_) => self.compaction_judged(compaction, outcome),
            Step::News(_, news) => {
                for text in &outcome.context {
                    self.tell(text, Author::Engine);
                }
                match outcome.halt {
                    Some(reason) => self.finish(Ending::Halted(reason)),
                    None => self.tell_hooks_of_compaction(compaction, news),
                }
            }
            _ => {}
        }
    }

    fn compaction_judged(&mut self, mut compaction: Box<Compaction>, outcome: HookOutcome) {
        if let Some(reason) = outcome.halt {
            self.emit_compaction_failure("a hook stopped the run");
            return self.finish(Ending::Halted(reason));
        }
        let Some(reason) = outcome.block else {
            let wishes: Vec<String> =
                std::iter::once(compaction.wishes).chain(outcome.context).collect();
            compaction.wishes = wishes.join("\n").trim().to_owned();
            return self.ask_for_summary(compaction);
        };
        self.emit_compaction_failure(&format!("a hook blocked it: {reason}"));
        match compaction.trigger {
            Trigger::Manual => {
                let text = format!("A hook blocked the compaction, nothing was changed: {reason}");
                self.finish(Ending::Command(text));
            }
            Trigger::Auto => {
                self.with_round(|round| round.compaction_refused = true);
                self.reserve_request();
            }
        }
    }

    /// Ends a compaction in the middle; what it has not replaced yet stays.
    pub(crate) fn interrupt_compaction(&mut self, compaction: &Compaction) {
        self.cancel_compaction(compaction);
        if let Some(response) = compaction.response() {
            self.settle_side_accounts(response);
        }
        if !matches!(compaction.step, Step::News(..)) {
            self.emit_compaction_failure("it was interrupted");
        }
    }

    /// Ends whatever a compaction waits for; the costs are the caller's to enter.
    pub(crate) fn cancel_compaction(&mut self, compaction: &Compaction) {
        match &compaction.step {
            Step::Permission(run) | Step::News(run, _) => {
                self.effects.push(Effect::CancelHooks { run: *run });
            }
            Step::Summary(response) => {
                self.effects.push(Effect::CancelModel { response: response.id });
            }
            Step::Share(response) => {
                self.effects.push(Effect::CancelReserve { response: *response });
            }
            Step::Pause(timer) => self.effects.push(Effect::CancelTimer { timer: *timer }),
            Step::Between => {}
        }
    }
}
