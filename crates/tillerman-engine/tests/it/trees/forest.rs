//! A tree of sessions, and everything that can happen to them.

use tillerman_engine::{
    AgentTask, Budget, Deadline, Effect, Grant, Input, Judgement, Limits, Place, Prompt, Restored,
    Share, TaskStart, Ticket, restore,
};
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{Frame, ResultSubtype};
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskReport, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutput};
use tillerman_protocol::transcript::{Entry, UserEntry};
use tillerman_protocol::{Moment, TaskId, ToolUseId};

use super::node::{Life, Node, config};
use super::said::speech;
use super::tally::Tally;
use super::till::Till;
use crate::simulation::dice::Dice;

const BEGINNING: i64 = 1_700_000_000_000;
const MOST_NODES: usize = 12;
const MOST_STEPS: u64 = 20_000;

/// A tree and what it shares.
pub(super) struct Forest {
    dice: Dice,
    traced: bool,
    nodes: Vec<Node>,
    till: Till,
    deadline: Option<Deadline>,
    /// A small window makes agents compact their conversations.
    window: Option<u64>,
    serial: u64,
    clock: i64,
    tally: Tally,
}

/// What a check says is wrong, if anything is.
pub(super) type Checked = Result<(), String>;

impl Forest {
    pub(super) fn new(seed: u64, traced: bool) -> Self {
        let mut dice = Dice::new(seed);
        #[expect(clippy::cast_precision_loss, reason = "the number is small")]
        let usd = dice.chance(70).then(|| dice.below(60) as f64 / 10.0);
        let tokens = dice.chance(30).then(|| dice.below(4_000));
        let turns = dice.chance(30).then(|| dice.below(30));
        let set_at = Moment::from_millis(BEGINNING);
        let deadline = dice.chance(20).then(|| {
            let millis = i64::try_from(dice.below(2_000)).unwrap_or(0);
            Deadline { set_at, at: Moment::from_millis(BEGINNING + millis) }
        });
        let window = dice.chance(25).then_some(1_000);
        Self {
            dice,
            traced,
            nodes: Vec::new(),
            till: Till::new(Budget { usd, tokens, turns }),
            deadline,
            window,
            serial: 0,
            clock: BEGINNING,
            tally: Tally::default(),
        }
    }

    /// A few processes of one session, each a tree that grows and ends, or is cut down.
    pub(super) fn run(mut self) -> Result<Tally, String> {
        let mut restored = Restored::default();
        for process in 0..3 {
            let entries = self.process(restored, process < 2)?;
            if entries.is_empty() || !self.dice.chance(50) {
                break;
            }
            self.tally.restarts += 1;
            restored = restore(&entries);
        }
        Ok(self.tally)
    }

    fn process(&mut self, restored: Restored, may_crash: bool) -> Result<Vec<Entry>, String> {
        self.till.open(restored.ledger.total());
        let seed = [self.dice.next(), self.dice.next()];
        let kept = self.nodes.first().map_or_else(Vec::new, |root| root.entries.clone());
        let mut root = Node::new(
            config(seed, None, self.limits(), self.window),
            restored,
            None,
            0,
            Place::Foreground,
        );
        root.entries = kept;
        self.nodes = vec![root];
        for _ in 0..=self.dice.below(3) {
            let text = format!("prompt {}", self.number());
            self.nodes[0].inbox.push_back(Input::Prompted(Prompt::text(text)));
        }
        let wild = 20 + self.dice.below(400);
        let crash_at = (may_crash && self.dice.chance(30)).then(|| self.dice.below(wild));
        for step in 0..MOST_STEPS {
            if crash_at == Some(step) {
                return Ok(self.nodes[0].entries.clone());
            }
            if step == wild {
                self.hear(0, Input::InputClosed)?;
            }
            if self.nodes[0].life == Life::Over {
                self.cut_loose()?;
                return Ok(self.nodes[0].entries.clone());
            }
            self.step(step < wild)?;
        }
        Err("the tree does not end".to_owned())
    }

    fn step(&mut self, wild: bool) -> Checked {
        self.tally.steps += 1;
        if let Some(bill) = self.till.next_bill() {
            return self.hear(0, Input::BilledElsewhere(Box::new(bill)));
        }
        if let Some(at) =
            self.nodes.iter().position(|node| node.is_alive() && !node.inbox.is_empty())
        {
            let input = self.nodes[at].inbox.pop_front().unwrap();
            return self.hear(at, input);
        }
        if wild && self.dice.chance(2) {
            self.tally.interrupted += 1;
            return self.hear(0, Input::Interrupted);
        }
        if self.dice.chance(4)
            && let Some(at) = self.waited_for()
        {
            return self.promote(at);
        }
        if wild && self.dice.chance(1) && self.nodes.len() > 1 {
            let at = 1 + self.dice.index(self.nodes.len() - 1);
            return self.stop(at);
        }
        let alive: Vec<usize> =
            (0..self.nodes.len()).filter(|at| self.nodes[*at].is_alive()).collect();
        let mut ready: Vec<(usize, Input)> = Vec::new();
        for at in alive {
            ready.extend(self.next_of(at).map(|input| (at, input)));
        }
        if ready.is_empty() {
            if wild {
                return self.hear(0, Input::InputClosed);
            }
            return Err("everybody waits for somebody".to_owned());
        }
        let (at, input) = ready.swap_remove(self.dice.index(ready.len()));
        self.take(at, &input);
        self.hear(at, input)
    }

    /// Something that could happen to a node next.
    fn next_of(&mut self, at: usize) -> Option<Input> {
        let node = &self.nodes[at];
        let mut ready = Vec::new();
        for (response, script) in &node.responses {
            let event = script.front().cloned();
            ready.extend(event.map(|event| Input::ModelReported { response: *response, event }));
        }
        let allow = Judgement::Allow;
        ready.extend(
            node.judging
                .iter()
                .map(|call| Input::CallJudged { call: *call, judgement: allow.clone() }),
        );
        ready.extend(node.tools.iter().map(|call| Input::ToolEnded {
            call: *call,
            outcome: Ok(ToolOutput::new(Content::Text("seen".to_owned()), None)),
        }));
        ready.extend(node.timers.iter().map(|timer| Input::TimerFired { timer: *timer }));
        if ready.is_empty() { None } else { Some(ready.swap_remove(self.dice.index(ready.len()))) }
    }

    /// The world has no further part in what is about to be heard.
    fn take(&mut self, at: usize, input: &Input) {
        let node = &mut self.nodes[at];
        match input {
            Input::ModelReported { response, .. } => {
                let script = node.responses.entry(*response).or_default();
                script.pop_front();
                if script.is_empty() {
                    node.responses.remove(response);
                }
            }
            Input::CallJudged { call, .. } => node.judging.retain(|held| held != call),
            Input::ToolEnded { call, .. } => node.tools.retain(|held| held != call),
            Input::TimerFired { timer } => node.timers.retain(|held| held != timer),
            _ => {}
        }
    }

    fn hear(&mut self, at: usize, input: Input) -> Checked {
        if self.traced {
            println!("{at}> {input:?}");
        }
        self.clock += 7;
        let effects = self.nodes[at].session.step(Moment::from_millis(self.clock), input);
        for effect in effects {
            if self.traced && !matches!(effect, Effect::CallModel { .. }) {
                println!("  {at}< {effect:?}");
            }
            self.carry_out(at, effect)?;
        }
        self.check()
    }

    fn carry_out(&mut self, at: usize, effect: Effect) -> Checked {
        match effect {
            Effect::Append(entry) => {
                let is_summary = |entry: &UserEntry| entry.is_compact_summary == Some(true);
                let compacted = matches!(&*entry, Entry::User(entry) if is_summary(entry));
                self.tally.compacted += u64::from(compacted);
                self.nodes[at].entries.push(*entry);
            }
            Effect::Emit(frame) => self.show(at, &frame),
            Effect::Reserve { response, share } => {
                let (ticket, answer) = self.till.ask(share);
                self.nodes[at].tickets.insert(response, ticket);
                match answer {
                    Some(grant) => {
                        let spent = self.till.spent();
                        self.tally.refused += u64::from(grant != Grant::Granted);
                        self.nodes[at].inbox.push_back(Input::Reserved { response, grant, spent });
                    }
                    None => self.tally.waited += 1,
                }
            }
            Effect::CancelReserve { response } => self.settle(at, response, Share::default()),
            Effect::Settle(bill) => {
                let share = bill.share();
                self.till.pay(share);
                self.settle(at, bill.response, share);
                if at > 0 {
                    self.till.send(*bill);
                }
            }
            Effect::CallModel { response, .. } => {
                let (number, depth) = (self.number(), self.nodes[at].depth);
                let script = speech(&mut self.dice, number, depth);
                self.nodes[at].responses.insert(response, script);
            }
            Effect::CancelModel { response } => drop(self.nodes[at].responses.remove(&response)),
            Effect::JudgeCall { call, .. } => self.nodes[at].judging.push(call),
            Effect::RunTool { call, tool_use_id, name, input } => {
                if name == "Agent" {
                    let background = input["background"] == true;
                    self.plant(at, call, tool_use_id, background);
                } else {
                    self.nodes[at].tools.push(call);
                }
            }
            Effect::CancelTool { call } => {
                self.nodes[at].tools.retain(|held| *held != call);
                let below =
                    |node: &Node| node.parent == Some(at) && node.waiting_call == Some(call);
                if let Some(below) = self.nodes.iter().position(below) {
                    self.stop(below)?;
                }
            }
            Effect::StartTask { task } => {
                let begins = self.find(&task)?;
                let prompt = Prompt::text(format!("work of {task}"));
                self.nodes[begins].life = Life::AtWork;
                self.nodes[begins].inbox.push_back(Input::Prompted(prompt));
            }
            Effect::StopTask { task } => {
                let stops = self.find(&task)?;
                self.stop(stops)?;
            }
            Effect::StartTimer { timer, .. } => self.nodes[at].timers.push(timer),
            Effect::CancelTimer { timer } => self.nodes[at].timers.retain(|held| *held != timer),
            Effect::End => self.end(at),
            _ => {}
        }
        Ok(())
    }

    fn settle(&mut self, at: usize, response: tillerman_engine::ResponseId, share: Share) {
        let Some(ticket) = self.nodes[at].tickets.remove(&response) else { return };
        let answered = self.till.settle(ticket, share);
        let spent = self.till.spent();
        for (ticket, grant) in answered {
            self.tally.refused += u64::from(grant != Grant::Granted);
            let holder = |node: &Node| holder(node, ticket);
            let found =
                self.nodes.iter().enumerate().find_map(|(at, n)| holder(n).map(|r| (at, r)));
            if let Some((at, response)) = found {
                self.nodes[at].inbox.push_back(Input::Reserved { response, grant, spent });
            }
        }
    }

    /// A call starts an agent: the task is made known first, the agent begins when it is.
    fn plant(
        &mut self,
        at: usize,
        call: tillerman_engine::CallId,
        tool_use_id: ToolUseId,
        background: bool,
    ) {
        if self.nodes.len() >= MOST_NODES || self.nodes[at].depth >= 3 {
            let outcome = Err(ToolFailure::new("too many agents"));
            return self.nodes[at].inbox.push_back(Input::ToolEnded { call, outcome });
        }
        self.tally.agents += 1;
        let id = format!("agent#{}#", self.number());
        let place = if background { Place::Background } else { Place::Foreground };
        let seed = [self.dice.next(), self.dice.next()];
        let depth = self.nodes[at].depth + 1;
        let mut node = Node::new(
            config(
                seed,
                Some(id.clone()),
                Limits { max_budget_usd: None, ..self.limits() },
                self.window,
            ),
            Restored::default(),
            Some(at),
            depth,
            place,
        );
        node.waiting_call = (!background).then_some(call);
        let start = TaskStart {
            id: TaskId::new(&id),
            tool_use_id,
            kind: TaskKind::LocalAgent,
            description: "work".to_owned(),
            output_file: String::new(),
            place,
            agent: Some(Box::new(AgentTask::default())),
        };
        self.nodes.push(node);
        let inbox = &mut self.nodes[at].inbox;
        inbox.push_back(Input::TaskStarted(Box::new(start)));
        if background {
            let content = Content::Text("launched".to_owned());
            let outcome = Ok(ToolOutput::new(content, None));
            inbox.push_back(Input::ToolEnded { call, outcome });
        }
    }

    fn promote(&mut self, at: usize) -> Checked {
        let Some(parent) = self.nodes[at].parent else { return Ok(()) };
        self.tally.promoted += 1;
        let task = self.nodes[at].task.clone();
        let content = Content::Text("moved".to_owned());
        let outcome = Box::new(Ok(ToolOutput::new(content, None)));
        self.nodes[at].waiting_call = None;
        self.nodes[at].place = Place::Background;
        self.hear(parent, Input::TaskBackgrounded { task, outcome })
    }

    /// An agent whose call waits for it and could go on without it.
    fn waited_for(&mut self) -> Option<usize> {
        let waits = |node: &Node| {
            let parent = node.parent.map(|parent| &self.nodes[parent]);
            let heard = parent.is_some_and(|parent| parent.is_alive() && parent.inbox.is_empty());
            node.is_alive() && node.waiting_call.is_some() && !node.stopped && heard
        };
        self.nodes.iter().position(waits)
    }

    /// An agent is told to end with everything below it.
    fn stop(&mut self, at: usize) -> Checked {
        if self.nodes[at].stopped || self.nodes[at].life == Life::Over || at == 0 {
            return Ok(());
        }
        self.nodes[at].stopped = true;
        if self.nodes[at].life == Life::Planned {
            self.nodes[at].life = Life::Over;
            return Ok(());
        }
        self.nodes[at].inbox.push_back(Input::Interrupted);
        self.nodes[at].inbox.push_back(Input::ShutDown);
        Ok(())
    }

    /// A session is over: whoever started it hears how.
    fn end(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        node.life = Life::Over;
        node.inbox.clear();
        let Some(parent) = node.parent else { return };
        let (task, stopped) = (node.task.clone(), node.stopped);
        let report = format!("report of {task}");
        let fine = node.result.as_ref().is_some_and(|(_, fine)| *fine);
        let status = match (stopped, fine) {
            (true, _) => TaskStatus::Stopped,
            (false, true) => TaskStatus::Completed,
            (false, false) => TaskStatus::Failed,
        };
        let call = node.waiting_call.take();
        if self.nodes[parent].life == Life::Over {
            return;
        }
        let waits = call.is_some();
        let text = TaskReport { text: report.clone(), ..TaskReport::default() };
        let end = TaskEnd { status, summary: "over".to_owned(), report: Some(Box::new(text)) };
        self.nodes[at].owes_report = status != TaskStatus::Stopped && !waits;
        self.nodes[parent].inbox.push_back(Input::TaskEnded { task, end });
        if let Some(call) = call {
            let content = Content::Text(report);
            let outcome = Ok(ToolOutput::new(content, None));
            self.nodes[parent].inbox.push_back(Input::ToolEnded { call, outcome });
        }
    }

    fn show(&mut self, at: usize, frame: &Frame) {
        if let Frame::Result(result) = frame {
            let fine = result.subtype == ResultSubtype::Success && !result.is_error;
            let text = result.result.clone().unwrap_or_default();
            self.tally.timed_out += u64::from(result.terminal_reason == "deadline_exceeded");
            let out_of_turns = result.terminal_reason == "turn_budget_exhausted";
            self.tally.out_of_turns += u64::from(out_of_turns);
            self.nodes[at].result = Some((text, fine));
        }
    }

    fn find(&self, task: &TaskId) -> Result<usize, String> {
        let found = self.nodes.iter().position(|node| node.task == *task);
        found.ok_or_else(|| format!("{task} is nobody's"))
    }

    /// What holds for everybody; the pool decides about dollars.
    const fn limits(&self) -> Limits {
        Limits {
            max_turns: Some(8),
            max_budget_usd: self.till.budget.usd,
            max_total_tokens: self.till.budget.tokens,
            max_total_turns: self.till.budget.turns,
            deadline: self.deadline,
            ..Limits::unlimited()
        }
    }

    const fn number(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// What holds after every step.
    fn check(&self) -> Checked {
        let root = &self.nodes[0];
        self.till.check(root.is_alive().then(|| root.session.ledger().total()))
    }

    /// The root has ended: everybody below it ends too, and nothing stays set aside.
    fn cut_loose(&mut self) -> Checked {
        for _ in 0..MOST_STEPS {
            let next = |node: &Node| node.is_alive() && !node.inbox.is_empty();
            let Some(at) = self.nodes.iter().position(next) else { break };
            let input = self.nodes[at].inbox.pop_front().unwrap();
            self.hear(at, input)?;
        }
        if let Some(orphan) = self.nodes.iter().find(|node| node.is_alive()) {
            return Err(format!("{} outlives the root", orphan.task));
        }
        self.till.check_end()?;
        for node in &self.nodes[1..] {
            let parent = &self.nodes[node.parent.unwrap_or(0)];
            let heard = parent.heard(&format!("report of {}", node.task));
            let owed = node.owes_report && !parent.stopped;
            self.tally.reported += u64::from(heard == 1);
            if heard > 1 || (owed && heard == 0) {
                return Err(format!("{} was heard of {heard} times", node.task));
            }
        }
        Ok(())
    }
}

/// The response for which a node holds a ticket.
fn holder(node: &Node, ticket: Ticket) -> Option<tillerman_engine::ResponseId> {
    node.tickets.iter().find(|(_, held)| **held == ticket).map(|(response, _)| *response)
}
