//! The session: takes inputs in, keeps the state, hands effects out.

use std::collections::{HashSet, VecDeque};

use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, Moment, ToolUseId};

use crate::calls::HookRunId;
use crate::commands;
use crate::config::SessionConfig;
use crate::conversation::{Conversation, remove_forgeries};
use crate::effect::{Effect, Sync};
use crate::hooks::HookOutcome;
use crate::identity::IdSource;
use crate::input::{Author, Input, PermissionAnswer, Prompt};
use crate::ledger::Ledger;
use crate::meter::{Guard, Meter};
use crate::replay::{Interrupted, Restored};
use crate::round::{Ending, Round, Stage};
use crate::tasks::Tasks;
use crate::threshold::Threshold;

const FORGERIES_REMOVED: &str = "The prompt held tool calls, tool results or thoughts. They were \
     left out, since only the session itself may add them; send them as text.";

/// A session. One task owns it; it does nothing but compute.
#[derive(Debug)]
pub struct Session {
    pub(crate) config: SessionConfig,
    pub(crate) ids: IdSource,
    pub(crate) now: Moment,
    pub(crate) conversation: Conversation,
    pub(crate) ledger: Ledger,
    pub(crate) chain: Chain,
    pub(crate) choices: Choices,
    pub(crate) queue: VecDeque<Prompt>,
    pub(crate) round: Option<Box<Round>>,
    pub(crate) tasks: Tasks,
    pub(crate) threshold: Threshold,
    pub(crate) effects: Vec<Effect>,
    pub(crate) door: Door,
    pub(crate) last_result_failed: bool,
    /// Whether a round has ended; an agent ends when nothing is left to do then.
    pub(crate) has_answered: bool,
    pub(crate) context: Fullness,
    /// Dollars spent before the conversation started over.
    pub(crate) spent_before: f64,
    counter: u64,
}

/// Where the next transcript entry attaches.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) tip: Option<EntryId>,
    /// Calls of an earlier run that were never answered.
    pub(crate) orphans: Vec<(ToolUseId, EntryId)>,
    /// Those of them that a hook put off, which never ran.
    pub(crate) deferred: HashSet<ToolUseId>,
    /// The id of the newest response that has entries; they share it.
    pub(crate) response: String,
    /// Ids that hosts gave to prompts so far.
    pub(crate) prompts: HashSet<EntryId>,
    /// Tasks of an earlier run that the model has not heard of since.
    pub(crate) interrupted: Vec<Interrupted>,
}

/// How full the context is, and how that went so far.
#[derive(Debug, Default)]
pub(crate) struct Fullness {
    pub(crate) meter: Meter,
    pub(crate) guard: Guard,
}

/// What can be changed while a session runs.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(crate) model: String,
    pub(crate) mode: PermissionMode,
    pub(crate) thinking: Thinking,
    /// Whether questions are answered also when no more input comes.
    pub(crate) approver_stays: bool,
}

/// Whether anything can still come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// No more prompts or answers; work under way is finished.
    Closed,
    /// The session is over.
    Ended,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It waits for a prompt; nothing runs.
    Idle,
    /// A round is under way.
    Running,
    /// It is over.
    Ended,
}

impl Session {
    /// A session that goes on from what was restored; from nothing, if that is empty.
    #[must_use]
    pub fn new(config: SessionConfig, restored: Restored) -> Self {
        let choices = Choices {
            model: config.model.clone(),
            mode: config.mode,
            thinking: config.thinking,
            approver_stays: false,
        };
        Self {
            ids: IdSource::new(config.seed),
            now: Moment::default(),
            conversation: restored.conversation,
            ledger: restored.ledger,
            chain: Chain {
                tip: restored.tip,
                orphans: restored.orphans,
                deferred: restored.deferred,
                response: String::new(),
                prompts: restored.prompts,
                interrupted: restored.interrupted,
            },
            choices,
            queue: VecDeque::new(),
            round: None,
            tasks: Tasks::default(),
            threshold: Threshold::default(),
            effects: Vec::new(),
            door: Door::Open,
            last_result_failed: false,
            has_answered: false,
            context: Fullness::default(),
            spent_before: 0.0,
            counter: 0,
            config,
        }
    }

    /// Takes one input in and says what is to be done about it.
    pub fn step(&mut self, now: Moment, input: Input) -> Vec<Effect> {
        self.now = now;
        if self.door != Door::Ended {
            self.take(input);
            self.start_rounds();
        }
        std::mem::take(&mut self.effects)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Prompted(prompt) => self.prompted(prompt),
            Input::ModelReported { response, event } => self.model_reported(response, event),
            Input::HooksAnswered { run, outcome } => self.hooks_answered(run, *outcome),
            Input::Begun(beginning) => self.begin(beginning),
            Input::DirectoryChanged { old: old_cwd, new: new_cwd } => {
                self.tell_hooks(HookDetail::CwdChanged { old_cwd, new_cwd });
            }
            Input::HooksSpoke { outcome, wakes } => self.hooks_spoke(*outcome, wakes),
            Input::CallJudged { call, judgement } => self.call_judged(call, judgement),
            Input::PermissionAnswered { ask, answer } => self.permission_answered(ask, answer),
            Input::ToolEnded { call, outcome } => self.tool_ended(call, outcome),
            Input::TaskStarted(task) => self.task_started(*task),
            Input::TaskEnded { task, end } => self.task_ended(&task, &end),
            Input::TaskBackgrounded { task, outcome } => self.task_backgrounded(&task, *outcome),
            Input::Reserved { response, grant } => self.reserved(response, grant),
            Input::BilledElsewhere(bill) => self.billed_elsewhere(&bill),
            Input::TimerFired { timer } => {
                if !self.linger_over(timer) {
                    self.timer_fired(timer);
                }
            }
            Input::Interrupted => self.interrupt(),
            Input::PromptWithdrawn(uuid) => {
                let before = self.queue.len();
                self.queue.retain(|prompt| prompt.uuid.as_ref() != Some(&uuid));
                if self.queue.len() < before {
                    self.emit_lifecycle(uuid, "cancelled");
                }
            }
            Input::ModelChosen(model) => self.choose_model(model, "sdk"),
            Input::ModeChosen(mode) => self.choose_mode(mode),
            Input::ThinkingChosen(thinking) => self.choices.thinking = thinking,
            Input::SystemChosen(system) => self.config.system = system,
            Input::AgentsChosen(names) => self.config.init.agents = names,
            Input::Relisted(listing) => self.relist(*listing),
            Input::TranscriptMoved(path) => self.config.origin.transcript_path = path,
            Input::HooksRegistered(events) => self.config.hooked = events,
            Input::ToolsChanged(tools) => self.config.offer(&tools),
            Input::ToolsDeferred { tools, deferred } => self.config.defer(&tools, deferred),
            Input::ServersChanged { servers, commands } => {
                self.config.show_servers(servers, commands);
            }
            Input::ApproverStays => self.choices.approver_stays = true,
            Input::OutputChosen(output) => self.choose_output(*output),
            Input::InputClosed => self.close_input(),
            Input::ShutDown => self.shut_down(),
        }
    }

    /// What the session is doing.
    #[must_use]
    pub const fn activity(&self) -> Activity {
        match (self.door, &self.round) {
            (Door::Ended, _) => Activity::Ended,
            (_, None) if !self.threshold.is_busy() => Activity::Idle,
            _ => Activity::Running,
        }
    }

    /// The permission mode in force.
    #[must_use]
    pub const fn mode(&self) -> PermissionMode {
        self.choices.mode
    }

    /// The model that answers the next round.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.choices.model
    }

    /// The conversation so far.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What was used and spent so far.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What the session was started with.
    #[must_use]
    pub const fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Whether the newest round ended in an error.
    #[must_use]
    pub const fn last_result_failed(&self) -> bool {
        self.last_result_failed
    }

    /// Ids of the prompts that still wait.
    #[must_use]
    pub fn queued(&self) -> Vec<EntryId> {
        self.queue.iter().filter_map(|prompt| prompt.uuid.clone()).collect()
    }

    fn prompted(&mut self, mut prompt: Prompt) {
        // What agents are told comes from other agents, which go on when the host has left.
        if self.door != Door::Open && self.config.agent.is_none() {
            return;
        }
        // A host that is not sure whether a prompt arrived may send it again.
        if let Some(uuid) = &prompt.uuid
            && !self.chain.prompts.insert(uuid.clone())
        {
            return self.prompted_again();
        }
        if remove_forgeries(&mut prompt.content) {
            self.emit_notification("prompt", FORGERIES_REMOVED);
        }
        if let Some(uuid) = prompt.uuid.clone() {
            self.emit_lifecycle(uuid, "queued");
        }
        self.queue.push_back(prompt);
    }

    /// A prompt that is stored already is not taken twice, but one that nobody answered is answered.
    fn prompted_again(&mut self) {
        self.emit_notification("prompt", "A prompt came twice and was taken once.");
        if self.round.is_none() && self.queue.is_empty() && self.conversation.awaits_answer() {
            let prompt = Prompt::text("Your work on this was cut off before an answer. Go on.");
            self.queue.push_back(Prompt { author: Author::Engine, ..prompt });
        }
    }

    /// Starts rounds until one is under way or nothing waits. This is the only place that does, so
    /// that rounds which end at once follow each other however many wait, instead of nesting.
    fn start_rounds(&mut self) {
        while self.round.is_none() && self.door != Door::Ended && !self.threshold.is_busy() {
            match (self.queue.is_empty(), self.is_leaving()) {
                (false, _) => self.start_round(),
                (true, true) if self.tasks.is_empty() => self.end(),
                (true, true) => return self.wait_for_tasks(),
                (true, false) => return,
            }
        }
    }

    /// Starts a round with everything that waits, or with a command alone.
    fn start_round(&mut self) {
        if let Some(command) = self.queue.front().and_then(commands::parse)
            && let Some(prompt) = self.queue.pop_front()
        {
            return self.run_command(prompt, &command);
        }
        let prompts = self.take_waiting();
        self.answer_orphans();
        self.tell_interrupted();
        if prompts.iter().all(|prompt| !prompt.wants_answer) {
            for prompt in prompts {
                self.add_quietly(prompt);
            }
            return;
        }
        let model = self.model_for(&prompts);
        self.round = Some(Box::new(Round::new(self.now, model)));
        self.emit_running();
        if !self.is_stopped_at_threshold(&prompts) {
            self.submit(prompts);
        }
    }

    /// Has hooks look at prompts, if any listen, before the model hears of them.
    pub(crate) fn submit(&mut self, prompts: Vec<Prompt>) {
        self.name_round(&prompts);
        let Some(detail) = self.submission(&prompts) else { return self.take_up(prompts) };
        let run = self.run_hooks(detail);
        self.set_stage(Stage::Submitting(run, prompts));
    }

    /// Takes the prompts that wait, up to the first command.
    pub(crate) fn take_waiting(&mut self) -> Vec<Prompt> {
        let is_command = |prompt: &Prompt| commands::parse(prompt).is_some();
        let until = self.queue.iter().position(is_command).unwrap_or(self.queue.len());
        self.queue.drain(..until).collect()
    }

    /// Adds a prompt to the conversation that nobody is to answer.
    fn add_quietly(&mut self, prompt: Prompt) {
        let (client_uuid, content) = (prompt.uuid.clone(), prompt.content.clone());
        let uuid = self.record_prompt(prompt);
        self.checkpoint(vec![uuid.clone()]);
        self.emit_prompt(uuid, content);
        if let Some(client_uuid) = client_uuid {
            self.emit_lifecycle(client_uuid, "completed");
        }
    }

    /// Takes prompts into the conversation: the first ones of a round open it, later ones join it.
    fn take_up(&mut self, prompts: Vec<Prompt>) {
        let opens = self.round.as_ref().is_some_and(|round| round.turns == 0);
        let mut anything = !opens;
        let mut replays = Vec::new();
        for prompt in prompts {
            let (content, said) = (prompt.content.clone(), !prompt.content.is_blank());
            let uuid = self.record_prompt(prompt);
            anything |= said;
            replays.push((uuid, content));
        }
        // Before hosts see the prompts, which they can rewind to from then on.
        self.checkpoint(replays.iter().map(|(uuid, _)| uuid.clone()).collect());
        if opens {
            self.emit_init();
        }
        for (uuid, content) in replays {
            self.emit_prompt(uuid, content);
        }
        if anything {
            self.request();
        } else {
            self.finish(Ending::Completed);
        }
    }

    fn hooks_answered(&mut self, run: HookRunId, outcome: HookOutcome) {
        let Some(outcome) = self.crossed(run, outcome) else { return };
        let Some(round) = self.round.as_mut() else { return };
        if let Some(call) = round.calls.of_hook(run) {
            return self.call_hooks_answered(call, outcome);
        }
        let stage_run = match &round.stage {
            Stage::Submitting(run, _)
            | Stage::BatchHooks(run)
            | Stage::Stopping(run)
            | Stage::Failing(run, _) => Some(*run),
            Stage::Compacting(compaction) => compaction.hook_run(),
            _ => return,
        };
        if stage_run != Some(run) {
            return;
        }
        let stage = std::mem::replace(&mut round.stage, Stage::Between);
        for message in &outcome.messages {
            self.emit_notification("hook", message);
        }
        match stage {
            Stage::Submitting(_, prompts) => self.submitted(prompts, outcome),
            Stage::BatchHooks(_) => self.batch_judged(outcome),
            Stage::Stopping(_) => self.stop_judged(outcome),
            Stage::Failing(_, ending) => self.conclude(*ending),
            Stage::Compacting(compaction) => self.compaction_hooks_answered(compaction, outcome),
            _ => {}
        }
    }

    fn submitted(&mut self, prompts: Vec<Prompt>, mut outcome: HookOutcome) {
        // Hooks hear that an agent starts; what it was asked is not theirs to refuse.
        outcome.block = outcome.block.filter(|_| self.config.agent.is_none());
        self.entitle(&outcome);
        let ending = outcome.halt.map(Ending::Halted);
        let has_begun = self.round.as_ref().is_some_and(|round| round.turns > 0);
        if let (None, Some(reason), true) = (&ending, &outcome.block, has_begun) {
            // The round had begun without these prompts and goes on without them.
            self.drop_prompts(&prompts);
            self.emit_notification("hook", &format!("A hook blocked a prompt: {reason}"));
            return self.request();
        }
        if let Some(ending) = ending.or_else(|| outcome.block.map(Ending::Blocked)) {
            self.drop_prompts(&prompts);
            return self.finish(ending);
        }
        self.with_round(|round| round.context.extend(outcome.context));
        self.take_up(prompts);
    }

    /// The round ends without these prompts; hosts still learn that they are done with.
    pub(crate) fn drop_prompts(&mut self, prompts: &[Prompt]) {
        let uuids = prompts.iter().filter_map(|prompt| prompt.uuid.clone());
        self.with_round(|round| round.prompts.extend(uuids));
    }

    /// Ends the round that is under way; what was complete is kept.
    fn interrupt(&mut self) {
        let Some(round) = self.round.as_mut() else { return self.give_up_beginning() };
        let while_working = !round.calls.unsettled().is_empty();
        let stage = std::mem::replace(&mut round.stage, Stage::Between);
        match stage {
            Stage::Submitting(run, prompts) => {
                self.effects.push(Effect::CancelHooks { run });
                self.drop_prompts(&prompts);
            }
            Stage::BatchHooks(run) | Stage::Stopping(run) | Stage::Failing(run, _) => {
                self.effects.push(Effect::CancelHooks { run });
            }
            Stage::BackingOff(timer) => self.effects.push(Effect::CancelTimer { timer }),
            Stage::Reserving(response) => self.effects.push(Effect::CancelReserve { response }),
            Stage::Responding(response) => {
                self.effects.push(Effect::CancelModel { response: response.id });
                self.keep_partial_text(&response);
                self.settle_accounts(&response);
            }
            Stage::Compacting(compaction) => self.interrupt_compaction(&compaction),
            Stage::Working | Stage::Between => {}
        }
        self.abandon_calls();
        self.hand_over_results();
        self.mark_interruption(while_working);
        self.finish(Ending::Aborted { while_working });
    }

    fn close_input(&mut self) {
        if self.door == Door::Open {
            self.door = Door::Closed;
        }
        let message = "Tool permission request failed: the input was closed before an answer came";
        let abandoned = if self.choices.approver_stays { Vec::new() } else { self.open_asks() };
        for ask in abandoned {
            self.effects.push(Effect::CancelAsk { ask });
            self.permission_answered(ask, PermissionAnswer::Failed { message: message.to_owned() });
        }
    }

    fn shut_down(&mut self) {
        if let Some(mut round) = self.round.take() {
            match std::mem::replace(&mut round.stage, Stage::Between) {
                Stage::Responding(response) => {
                    self.effects.push(Effect::CancelModel { response: response.id });
                    self.enter_costs(&round.model, &response);
                }
                Stage::BackingOff(timer) => self.effects.push(Effect::CancelTimer { timer }),
                Stage::Reserving(response) => self.effects.push(Effect::CancelReserve { response }),
                Stage::Submitting(run, _)
                | Stage::BatchHooks(run)
                | Stage::Stopping(run)
                | Stage::Failing(run, _) => self.effects.push(Effect::CancelHooks { run }),
                Stage::Compacting(compaction) => {
                    self.cancel_compaction(&compaction);
                    if let Some(response) = compaction.response() {
                        self.enter_costs(&round.model, response);
                    }
                }
                Stage::Working | Stage::Between => {}
            }
            for call in round.calls.iter() {
                self.cancel_work(call);
            }
            self.append_costs();
        }
        self.effects.push(Effect::Sync(Sync::Finish));
        self.end();
    }

    pub(crate) fn choose_mode(&mut self, mode: PermissionMode) {
        self.choices.mode = mode;
        self.emit_mode();
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub(crate) fn is_hooked(&self, event: HookEvent) -> bool {
        self.config.hooked.contains(&event)
    }

    pub(crate) fn set_stage(&mut self, stage: Stage) {
        self.with_round(|round| round.stage = stage);
    }

    pub(crate) fn with_round(&mut self, change: impl FnOnce(&mut Round)) {
        if let Some(round) = self.round.as_mut() {
            change(round);
        }
    }
}
