//! The session: takes inputs in, keeps the state, hands effects out.

use std::collections::{HashSet, VecDeque};

use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, Moment, ToolUseId};

use crate::allowance::Spending;
use crate::calls::HookRunId;
use crate::commands;
use crate::config::SessionConfig;
use crate::conversation::{Conversation, remove_forgeries};
use crate::effect::Effect;
use crate::hooks::HookOutcome;
use crate::identity::IdSource;
use crate::input::{Author, Input, PermissionAnswer, Prompt};
use crate::ledger::Ledger;
use crate::meter::{Guard, Meter};
use crate::replay::{Interrupted, Restored};
use crate::round::{Round, Stage};
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
    pub(crate) spending: Spending,
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
    /// Those of them that an earlier run put off; its host went on, which is an answer.
    pub(crate) put_off: Vec<ToolUseId>,
    /// Those of them that are taken up again before the next round.
    pub(crate) reopened: HashSet<ToolUseId>,
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
    /// The mode in which planning began.
    pub(crate) before_plan: Option<PermissionMode>,
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
            before_plan: None,
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
                put_off: restored.deferred.iter().cloned().collect(),
                deferred: restored.deferred,
                reopened: HashSet::new(),
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
            spending: Spending::default(),
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
            Input::CallsReopened(calls) => self.reopen(&calls),
            Input::HooksSpoke { outcome, wakes } => self.hooks_spoke(*outcome, wakes),
            Input::CallJudged { call, judgement } => self.call_judged(call, judgement),
            Input::PermissionAnswered { ask, answer } => self.permission_answered(ask, answer),
            Input::ToolEnded { call, outcome } => self.tool_ended(call, outcome),
            Input::TaskStarted(task) => self.task_started(*task),
            Input::TaskSpoke { task, text } => self.task_spoke(&task, &text),
            Input::TaskEnded { task, end } => self.task_ended(&task, &end),
            Input::TaskBackgrounded { task, outcome } => self.task_backgrounded(&task, *outcome),
            Input::Reserved { response, grant, spent } => self.reserved(response, grant, spent),
            Input::BilledElsewhere(bill) => self.billed_elsewhere(&bill),
            Input::TimerFired { timer } => {
                if !self.linger_over(timer) && !self.deadline_fired(timer) {
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
            Input::EffortChosen(effort) => self.config.effort = effort,
            Input::Titled(title) => self.entitle(Some(title)),
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

    fn prompted(&mut self, mut prompt: Prompt) {
        // What agents say to each other goes on when the host has left.
        let is_from_host = self.config.agent.is_none() && prompt.author == Author::Person;
        if self.door != Door::Open && (is_from_host || self.door == Door::Ended) {
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
            // Whoever listens to calls has introduced himself once there is a prompt.
            let is_wanted = self.queue.iter().any(|prompt| prompt.wants_answer);
            if is_wanted && !self.chain.put_off.is_empty() {
                let put_off = std::mem::take(&mut self.chain.put_off);
                self.reopen(&put_off);
            }
            if !self.chain.reopened.is_empty() {
                self.start_reopened();
                continue;
            }
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

    /// Takes the prompts that wait, up to the first command.
    pub(crate) fn take_waiting(&mut self) -> Vec<Prompt> {
        let is_command = |prompt: &Prompt| commands::parse(prompt).is_some();
        let until = self.queue.iter().position(is_command).unwrap_or(self.queue.len());
        self.queue.drain(..until).collect()
    }

    fn hooks_answered(&mut self, run: HookRunId, outcome: HookOutcome) {
        let Some(outcome) = self.crossed(run, outcome) else { return };
        let Some(round) = self.round.as_mut() else { return };
        if let Some(call) = round.calls.of_hook(run) {
            return self.call_hooks_answered(call, outcome);
        }
        let stage_run = match &round.stage {
            Stage::Expanding(run, _)
            | Stage::Submitting(run, _)
            | Stage::BatchHooks(run)
            | Stage::Stopping(run)
            | Stage::Resting(run)
            | Stage::Switching(run, _)
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
            Stage::Expanding(_, prompts) => self.expansion_judged(prompts, outcome),
            Stage::Submitting(_, prompts) => self.submitted(prompts, outcome),
            Stage::BatchHooks(_) => self.batch_judged(outcome),
            Stage::Stopping(_) => self.stop_judged(outcome),
            Stage::Resting(_) => self.rest_judged(outcome),
            Stage::Switching(_, switching) => self.switch_judged(switching, outcome),
            Stage::Failing(_, ending) => self.conclude(*ending),
            Stage::Compacting(compaction) => self.compaction_hooks_answered(compaction, outcome),
            _ => {}
        }
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

    pub(crate) fn choose_mode(&mut self, mode: PermissionMode) {
        let before = std::mem::replace(&mut self.choices.mode, mode);
        if mode == PermissionMode::Plan && before != mode {
            self.choices.before_plan = Some(before);
        }
        self.emit_mode();
    }

    /// A tool begins or ends planning. It ends in the mode in which it began, unless whoever
    /// approved the plan has chosen another one.
    pub(crate) fn switch_mode(&mut self, mode: PermissionMode) {
        match (self.choices.mode, mode) {
            (PermissionMode::Plan, PermissionMode::Default) => {
                let before = self.choices.before_plan.take();
                self.choose_mode(before.unwrap_or_default());
            }
            (_, PermissionMode::Default) => {}
            (_, mode) => self.choose_mode(mode),
        }
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
