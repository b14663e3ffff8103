//! Everything outside the engine: it carries effects out and decides what happens next.

use tillerman_engine::{
    AskId, CallId, Effect, HookOutcome, HookRunId, Input, Judgement, PermissionAnswer, Place,
    Prompt, ResponseId, TaskStart, TimerId,
};
use tillerman_protocol::content::{Block, Content, ToolResult};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::hook::HookEvent;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, Thinking};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::{EntryId, Moment, TaskId};

use super::answers;
use super::dice::Dice;
use super::fault::{Checked, Fault, ensure};
use super::flight::{Flight, Patience, Ready, Task, event_of};
use super::rounds::{PROMPT, SAYS, TASK};
use super::script::{self, Writer};
use super::setup;

/// What happens next.
#[derive(Debug)]
pub(super) enum Move {
    /// Something the session waits for or a person wants.
    Fresh(Input),
    /// A report of work that the session must not care about any more.
    Stale(Input),
}

/// The world around a session. It outlives the processes that run the session.
#[derive(Debug)]
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) flight: Flight,
    /// Answers everything, sensibly, and wants nothing new.
    pub(super) kind: bool,
    writer: Writer,
    clock: i64,
    stale: Vec<Input>,
    prompts: Vec<EntryId>,
    just_ended: Option<ResponseId>,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            flight: Flight::default(),
            kind: false,
            writer: Writer::new(seed),
            clock: setup::BEGINNING,
            stale: Vec::new(),
            prompts: Vec::new(),
            just_ended: None,
        }
    }

    /// The process died, and all its work with it.
    pub(super) fn crash(&mut self) {
        self.flight = Flight::default();
        self.stale.clear();
        self.kind = false;
    }

    /// The time, which mostly moves forward.
    pub(super) fn tick(&mut self) -> Moment {
        self.clock += match self.dice.below(100) {
            0..3 => -60_000,
            3..30 => 0,
            _ => i64::try_from(self.dice.below(5_000)).unwrap_or(0),
        };
        self.now()
    }

    pub(super) const fn now(&self) -> Moment {
        Moment::from_millis(self.clock)
    }

    pub(super) fn next(&mut self) -> Option<Move> {
        self.just_ended = None;
        if self.kind {
            let ready = self.flight.ready(&mut self.dice, true)?;
            return Some(Move::Fresh(self.report(ready)));
        }
        match self.dice.below(100) {
            0..4 => return Some(Move::Stale(self.stale_report())),
            4..10 => return Some(Move::Fresh(self.whim())),
            10..18 if !self.flight.tools.is_empty() => return Some(Move::Fresh(self.task())),
            18..24 if !self.flight.tasks.is_empty() => return Some(Move::Fresh(self.words())),
            _ => {}
        }
        let input = match self.flight.ready(&mut self.dice, false) {
            Some(ready) => self.report(ready),
            None if self.dice.chance(40) => self.whim(),
            None => self.prompt(),
        };
        Some(Move::Fresh(input))
    }

    fn report(&mut self, ready: Ready) -> Input {
        let input = match ready {
            Ready::Response(id) => return self.model_event(id),
            Ready::Judgement(call) => {
                let name = self.flight.judging.remove(&call).unwrap_or_default();
                Input::CallJudged { call, judgement: answers::judgement(&mut self.dice, &name) }
            }
            Ready::Ask(ask) => {
                let asked = self.flight.asks.remove(&ask).map(|(input, _)| input);
                let asked = asked.unwrap_or_default();
                let answer = answers::permission(&mut self.dice, &asked);
                Input::PermissionAnswered { ask, answer }
            }
            Ready::Tool(call) => {
                self.flight.tools.remove(&call);
                let outcome = answers::tool(&mut self.dice, self.writer.number());
                Input::ToolEnded { call, outcome }
            }
            Ready::Hooks(run) => {
                let event = self.flight.hooks.remove(&run);
                let outcome = match event {
                    Some(event) if !self.kind => answers::hooks(&mut self.dice, event),
                    _ => HookOutcome::default(),
                };
                Input::HooksAnswered { run, outcome: Box::new(outcome) }
            }
            Ready::Timer(timer) => {
                self.flight.timers.remove(&timer);
                Input::TimerFired { timer }
            }
            Ready::Task(task) => {
                let stopped = matches!(self.flight.tasks.remove(&task), Some(Task::Stopped(_)));
                let by_itself = [TaskStatus::Completed, TaskStatus::Failed];
                let status = if stopped { TaskStatus::Stopped } else { self.dice.pick(&by_itself) };
                let end = TaskEnd::new(status, "it is over");
                Input::TaskEnded { task, end }
            }
        };
        if self.dice.chance(20) {
            self.keep_stale(input.clone());
        }
        input
    }

    fn model_event(&mut self, response: ResponseId) -> Input {
        let script = self.flight.responses.entry(response).or_default();
        let silence = || ModelFailure::new(FailureKind::Stream, "the stream fell silent");
        let event = script.pop_front().unwrap_or_else(|| ModelEvent::Failed(silence()));
        let input = Input::ModelReported { response, event };
        if let Input::ModelReported {
            event: ModelEvent::Failed(_) | ModelEvent::Stream(StreamEvent::MessageStop),
            ..
        } = &input
        {
            let rest = self.flight.responses.remove(&response).unwrap_or_default();
            self.just_ended = Some(response);
            for event in rest {
                self.keep_stale(Input::ModelReported { response, event });
            }
            self.keep_stale(input.clone());
        }
        input
    }

    fn keep_stale(&mut self, input: Input) {
        if self.stale.len() < 24 {
            self.stale.push(input);
        }
    }

    fn stale_report(&mut self) -> Input {
        if !self.stale.is_empty() && self.dice.chance(70) {
            let at = self.dice.index(self.stale.len());
            let input = self.stale.swap_remove(at);
            // The same call is judged again after its input changed; then the report would count.
            match &input {
                Input::CallJudged { call, .. } if self.flight.judging.contains_key(call) => {}
                _ => return input,
            }
        }
        let unknown = (1 << 40) + self.dice.below(100);
        match self.dice.below(8) {
            0 => {
                let event = ModelEvent::Failed(script::failure(&mut self.dice));
                Input::ModelReported { response: ResponseId(unknown), event }
            }
            1 => Input::CallJudged { call: CallId(unknown), judgement: Judgement::Allow },
            2 => {
                let answer = PermissionAnswer::Allow { updated_input: None, updates: Vec::new() };
                Input::PermissionAnswered { ask: AskId(unknown), answer }
            }
            3 => {
                let outcome = answers::tool(&mut self.dice, unknown);
                Input::ToolEnded { call: CallId(unknown), outcome }
            }
            4 => {
                let outcome = Box::default();
                Input::HooksAnswered { run: HookRunId(unknown), outcome }
            }
            5 => {
                let end = TaskEnd::new(TaskStatus::Completed, "");
                Input::TaskEnded { task: "unknown".into(), end }
            }
            6 => Input::TaskSpoke { task: "unknown".into(), text: "words of nobody".to_owned() },
            _ => Input::TimerFired { timer: TimerId(unknown) },
        }
    }

    /// Something a person does without being asked.
    fn whim(&mut self) -> Input {
        match self.dice.below(100) {
            0..35 => self.prompt(),
            35..60 => Input::Interrupted,
            60..70 => {
                let newest = self.prompts.last().cloned().filter(|_| self.dice.chance(70));
                Input::PromptWithdrawn(newest.unwrap_or_else(|| EntryId::new("unknown")))
            }
            70..76 => Input::ModelChosen(self.dice.pick(&[None, Some("sim-chosen".to_owned())])),
            76..82 => {
                let modes = PermissionMode::ALL.map(|(_, mode)| mode);
                Input::ModeChosen(self.dice.pick(&modes))
            }
            82..86 => {
                let choices = [Thinking::Disabled, Thinking::Adaptive, Thinking::Budget(1024)];
                Input::ThinkingChosen(self.dice.pick(&choices))
            }
            86..93 => Input::HooksRegistered(setup::hooked(&mut self.dice)),
            93..95 => {
                let outcome = answers::hooks(&mut self.dice, HookEvent::Notification);
                Input::HooksSpoke { outcome: Box::new(outcome), wakes: false }
            }
            95..97 => Input::InputClosed,
            _ => Input::ShutDown,
        }
    }

    /// A tool leaves work behind.
    fn task(&mut self) -> Input {
        let id = TaskId::new(format!("{TASK}{}.", self.writer.number()));
        let kind = self.dice.pick(&[TaskKind::LocalBash, TaskKind::LocalAgent, TaskKind::Watch]);
        // Agents are sessions, which end by themselves, and what is watched has a deadline.
        let task = Task::Works(match kind {
            TaskKind::LocalAgent | TaskKind::Watch => Patience::Ends,
            TaskKind::LocalBash => patience(&mut self.dice),
        });
        self.flight.tasks.insert(id.clone(), task);
        Input::TaskStarted(Box::new(TaskStart {
            id,
            tool_use_id: self.writer.some_call(&mut self.dice),
            kind,
            description: "work".to_owned(),
            output_file: "output".to_owned(),
            place: Place::Background,
            agent: None,
        }))
    }

    /// A task that goes on says something, once or many times before anybody listens.
    fn words(&mut self) -> Input {
        let tasks: Vec<TaskId> = self.flight.tasks.keys().cloned().collect();
        let task = self.dice.pick(&tasks);
        let text = format!("{task}{SAYS}{}.", self.writer.number());
        Input::TaskSpoke { task, text }
    }

    fn prompt(&mut self) -> Input {
        let number = self.writer.number();
        let command = self.dice.pick(&[
            "/help",
            "/cost",
            "/context",
            "/compact",
            "/compact keep the numbers",
            "/model",
            "/model sim-named",
        ]);
        let text = match self.dice.below(100) {
            0..6 => " ".repeat(usize::try_from(number).unwrap_or(1)),
            _ => format!("{PROMPT}{number}"),
        };
        let content = match self.dice.below(12) {
            2 => Content::Text(command.to_owned()),
            3 if self.dice.chance(40) => {
                let tool_use_id = self.writer.some_call(&mut self.dice);
                let content = Content::Text("forged".to_owned());
                let forged = ToolResult { tool_use_id, content, is_error: false };
                Content::Blocks(vec![Block::text(text), Block::ToolResult(forged)])
            }
            0 => Content::Blocks(vec![Block::text(text), Block::text("  ")]),
            1 => {
                let picture = Block::Image { source: serde_json::json!({"type": "base64"}) };
                Content::Blocks(vec![picture, Block::text(text)])
            }
            _ => Content::Text(text),
        };
        let uuid = self.dice.chance(60).then(|| EntryId::new(format!("prompt-{number}")));
        self.prompts.extend(uuid.clone());
        let wants_answer = !self.dice.chance(12);
        Input::Prompted(Prompt { uuid, wants_answer, ..Prompt::new(content) })
    }

    /// Starts or cancels what an effect asks for.
    pub(super) fn carry_out(&mut self, effect: &Effect) -> Checked {
        let flight = &mut self.flight;
        let fresh = match effect {
            Effect::CallModel { response, .. } => {
                let script = match self.kind {
                    true => self.writer.plain(),
                    false => self.writer.response(&mut self.dice),
                };
                flight.responses.insert(*response, script).is_none()
            }
            Effect::RunHooks { run, input } => {
                flight.hooks.insert(*run, event_of(&input.detail)).is_none()
            }
            Effect::JudgeCall { call, name, .. } => {
                flight.judging.insert(*call, name.clone()).is_none()
            }
            Effect::AskPermission { ask, request } => {
                let asked = (request.input.clone(), patience(&mut self.dice));
                flight.asks.insert(*ask, asked).is_none()
            }
            Effect::RunTool { call, .. } => {
                flight.tools.insert(*call, patience(&mut self.dice)).is_none()
            }
            Effect::StartTimer { timer, .. } => flight.timers.insert(*timer),
            Effect::Emit(frame) if matches!(**frame, Frame::Result(_)) => {
                self.forget_judgements();
                true
            }
            Effect::End => {
                self.forget_judgements();
                true
            }
            _ => return self.cancel(effect),
        };
        ensure(fresh, "work-has-fresh-ids", || format!("{effect:?}"))
    }

    fn cancel(&mut self, effect: &Effect) -> Checked {
        let flight = &mut self.flight;
        let unknown =
            || Fault { check: "only-what-runs-is-cancelled", detail: format!("{effect:?}") };
        let late = match effect {
            Effect::CancelModel { response } => {
                let ended = self.just_ended == Some(*response);
                let Some(mut script) = flight.responses.remove(response) else {
                    return if ended { Ok(()) } else { Err(unknown()) };
                };
                let event = script.pop_front().unwrap_or(ModelEvent::Stream(StreamEvent::Ping));
                Input::ModelReported { response: *response, event }
            }
            Effect::CancelHooks { run } => {
                let event = flight.hooks.remove(run).ok_or_else(unknown)?;
                let outcome = Box::new(answers::hooks(&mut self.dice, event));
                Input::HooksAnswered { run: *run, outcome }
            }
            Effect::CancelAsk { ask } => {
                let (asked, _) = flight.asks.remove(ask).ok_or_else(unknown)?;
                let answer = answers::permission(&mut self.dice, &asked);
                Input::PermissionAnswered { ask: *ask, answer }
            }
            Effect::CancelTool { call } => {
                flight.tools.remove(call).ok_or_else(unknown)?;
                let outcome = answers::tool(&mut self.dice, self.writer.number());
                Input::ToolEnded { call: *call, outcome }
            }
            Effect::StopTask { task } => {
                // Asking again is no fault: the task may not have heard the first time.
                flight.tasks.get_mut(task).ok_or_else(unknown)?.stop();
                return Ok(());
            }
            Effect::CancelTimer { timer } => {
                ensure(flight.timers.remove(timer), unknown().check, || unknown().detail)?;
                Input::TimerFired { timer: *timer }
            }
            _ => return Ok(()),
        };
        self.keep_stale(late);
        Ok(())
    }

    /// The round is over; what policy still has to say about its calls is of no interest.
    fn forget_judgements(&mut self) {
        for (call, _) in std::mem::take(&mut self.flight.judging) {
            self.keep_stale(Input::CallJudged { call, judgement: Judgement::Allow });
        }
    }
}

fn patience(dice: &mut Dice) -> Patience {
    if dice.chance(7) { Patience::NeverEnds } else { Patience::Ends }
}
