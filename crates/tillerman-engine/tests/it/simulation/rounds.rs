//! Checks of rounds: every prompt is taken up once, every round has one result, the end is the end.

use std::collections::{BTreeMap, HashMap, HashSet};

use tillerman_engine::{Activity, Effect, HookRunId, Input, Prompt};
use tillerman_protocol::frame::{Frame, ResultFrame, SessionState, SystemDetail};
use tillerman_protocol::hook::HookDetail;
use tillerman_protocol::task::{TaskKind, TaskStatus};
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, TaskId};

use super::fault::{Checked, Fault, ensure};

/// Every prompt of the simulation that is not blank begins like this.
pub(super) const PROMPT: &str = "prompt#";

/// The id of every task begins like this and ends with a dot.
pub(super) const TASK: &str = "task.";

/// What a task says begins with its id and this.
pub(super) const SAYS: &str = "says.";

/// Where a session stands, seen only through its effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Submitting,
    Begun,
}

/// Watches the rounds of one process of a session.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    phase: Phase,
    /// Prompts that wait.
    pending: Vec<Prompt>,
    /// Prompts that hooks look at.
    taken: Vec<Prompt>,
    /// Prompts written down since the last result that want an answer.
    fresh: usize,
    /// Prompts that joined the round since its newest request.
    joined: usize,
    /// The newest answer of hooks was to block.
    blocked: bool,
    closed: bool,
    ended: bool,
    /// Rounds that began in this process.
    begun: u32,
    /// Hooks run before the first round or after the last.
    edge: Option<HookRunId>,
    state: Option<SessionState>,
    /// Agents at work; a session that waits for them does not call that rest.
    agents: HashSet<TaskId>,
    lifecycle: HashMap<EntryId, String>,
    answered: HashSet<EntryId>,
    /// How often rounds ended in which way, and how often room was made.
    pub(super) endings: BTreeMap<String, u64>,
}

impl Rounds {
    pub(super) fn hear(&mut self, input: &Input) {
        if let Input::TaskEnded { task, .. } = input {
            self.agents.remove(task);
        }
        match input {
            Input::Prompted(prompt) if !self.closed => self.pending.push(prompt.clone()),
            Input::PromptWithdrawn(uuid) => {
                self.pending.retain(|prompt| prompt.uuid.as_ref() != Some(uuid));
            }
            Input::TaskStarted(task) if task.kind == TaskKind::LocalAgent => {
                self.agents.insert(task.id.clone());
            }
            // A task that ends by itself is news for the model, whether or not anybody can prompt.
            Input::TaskEnded { task, end } if end.status != TaskStatus::Stopped => {
                self.pending.push(Prompt::text(task.as_str()));
            }
            Input::TaskSpoke { task, text } => self.spoke(task, text),
            Input::HooksAnswered { run, .. } if self.edge == Some(*run) => self.edge = None,
            Input::HooksAnswered { outcome, .. } => self.blocked = outcome.block.is_some(),
            Input::InputClosed => self.closed = true,
            _ => {}
        }
    }

    /// What a task says joins what it said before and nobody has heard yet; no word is lost.
    fn spoke(&mut self, task: &TaskId, text: &str) {
        let earlier = format!("{task}{SAYS}");
        let waits = |prompt: &Prompt| prompt.content.plain_text().starts_with(&earlier);
        let before = self.pending.iter().position(waits).map(|at| self.pending.remove(at));
        let words = match before {
            Some(before) => format!("{}\n> {text}", before.content.plain_text()),
            None => text.to_owned(),
        };
        self.pending.push(Prompt::text(words));
    }

    pub(super) fn see(&mut self, effect: &Effect) -> Checked {
        ensure(!self.ended, "nothing-follows-the-end", || format!("{effect:?}"))?;
        match effect {
            Effect::Append(entry) => self.append(entry),
            Effect::Emit(frame) => self.show(frame),
            Effect::CancelHooks { run } if self.edge == Some(*run) => {
                self.edge = None;
                Ok(())
            }
            Effect::RunHooks { run, input } => match &input.detail {
                // After a compaction the session starts anew in the middle of a round.
                HookDetail::SessionStart { source, .. } if source != "compact" => {
                    self.edge = Some(*run);
                    ensure(self.phase == Phase::Idle, "sessions-start-once", String::new)
                }
                // A round that a shutdown cut off has no result.
                HookDetail::SessionEnd { .. } => {
                    self.edge = Some(*run);
                    Ok(())
                }
                HookDetail::UserPromptSubmit { .. } => self.submit(),
                _ => self.check_begun(effect),
            },
            Effect::CallModel { .. } => {
                self.go_on()?;
                self.joined = 0;
                self.check_begun(effect)
            }
            Effect::RunTool { .. } | Effect::JudgeCall { .. } | Effect::AskPermission { .. } => {
                self.check_begun(effect)
            }
            Effect::StartTimer { .. } if !self.closed => self.check_begun(effect),
            Effect::End => {
                self.ended = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The round goes on, so it has taken up what it took, or hooks did not want it to.
    fn go_on(&mut self) -> Checked {
        let kept = self.blocked || self.taken.is_empty();
        ensure(kept, "prompts-are-not-lost", || format!("{:?}", self.taken))?;
        self.taken.clear();
        Ok(())
    }

    fn check_begun(&self, effect: &Effect) -> Checked {
        ensure(self.phase == Phase::Begun, "work-belongs-to-a-round", || format!("{effect:?}"))
    }

    fn append(&mut self, entry: &Entry) -> Checked {
        let Entry::User(entry) = entry else { return Ok(()) };
        let text = entry.message.content.plain_text();
        let blank = !text.is_empty() && text.trim().is_empty();
        let news = entry.is_meta == Some(true) && text.contains(TASK);
        if !text.starts_with(PROMPT) && !blank && !news {
            return Ok(());
        }
        let is_it = |prompt: &Prompt| {
            let said = prompt.content.plain_text();
            // Both name the task: what it says while it goes on, and that it is over.
            let same_kind = said.contains(SAYS) == text.contains(SAYS);
            said == text || (news && same_kind && text.contains(&said))
        };
        let find = |list: &[Prompt]| list.iter().position(is_it);
        let prompt = match (find(&self.pending), find(&self.taken)) {
            (Some(at), _) => self.pending.remove(at),
            (None, Some(at)) => self.taken.remove(at),
            (None, None) => {
                return Err(Fault { check: "prompts-are-taken-up-once", detail: text });
            }
        };
        let named = prompt.uuid.is_none_or(|uuid| uuid == entry.link.uuid);
        self.fresh += usize::from(prompt.wants_answer);
        self.joined += usize::from(self.phase == Phase::Begun);
        ensure(named, "prompts-keep-their-ids", || text)
    }

    fn submit(&mut self) -> Checked {
        ensure(self.taken.is_empty(), "rounds-do-not-overlap", || format!("{:?}", self.taken))?;
        // Inside a round this is the way to join it, also for prompts that want no answer.
        let wanted = match self.phase {
            Phase::Idle => self.pending.iter().any(|prompt| prompt.wants_answer),
            Phase::Submitting => false,
            Phase::Begun => !self.pending.is_empty(),
        };
        ensure(wanted, "rounds-start-with-a-prompt", || "nobody wants an answer".to_owned())?;
        let until = self.pending.iter().position(is_command).unwrap_or(self.pending.len());
        self.taken.extend(self.pending.drain(..until));
        if self.phase == Phase::Idle {
            self.phase = Phase::Submitting;
        }
        Ok(())
    }

    fn show(&mut self, frame: &Frame) -> Checked {
        match frame {
            Frame::System(frame) => match &frame.detail {
                SystemDetail::Init(_) => self.begin(),
                SystemDetail::Status { status: Some(status), .. } if status == "compacting" => {
                    self.go_on()
                }
                SystemDetail::CompactBoundary { .. } => self.note("(compacted)"),
                SystemDetail::MicrocompactBoundary { .. } => self.note("(outputs cleared)"),
                SystemDetail::SessionStateChanged { state, .. } => {
                    self.state = Some(*state);
                    Ok(())
                }
                _ => Ok(()),
            },
            Frame::Result(result) => self.finish(result),
            Frame::CommandLifecycle(frame) => {
                let before = self.lifecycle.insert(frame.command_uuid.clone(), frame.state.clone());
                let fine = match frame.state.as_str() {
                    "queued" => before.is_none(),
                    "started" | "cancelled" => before.as_deref() == Some("queued"),
                    "completed" => matches!(before.as_deref(), Some("queued" | "started")),
                    _ => false,
                };
                ensure(fine, "lifecycles-go-forward", || format!("{before:?} then {frame:?}"))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Checked {
        let mut wanted = self.phase == Phase::Submitting || self.fresh > 0;
        if !wanted && self.pending.first().is_some_and(is_command) {
            self.pending.remove(0);
            wanted = true;
        }
        // The first round may be that of an earlier process, whose call was put off; a prompt waits.
        wanted |= self.begun == 0 && self.pending.iter().any(|prompt| prompt.wants_answer);
        self.begun += 1;
        ensure(wanted, "rounds-start-with-a-prompt", || "nobody wants an answer".to_owned())?;
        ensure(self.phase != Phase::Begun, "rounds-do-not-overlap", || "two begin".to_owned())?;
        self.phase = Phase::Begun;
        Ok(())
    }

    fn finish(&mut self, result: &ResultFrame) -> Checked {
        ensure(self.phase != Phase::Idle, "one-result-per-round", || {
            format!("a result ({}) outside a round", result.terminal_reason)
        })?;
        let reason = result.terminal_reason.as_str();
        let may_drop = match reason {
            "blocked" | "hook_stopped" | "aborted_streaming" => true,
            // Hooks kept them out of the round, which then found no room to go on.
            "rapid_refill_breaker" => self.blocked,
            _ => false,
        };
        ensure(self.taken.is_empty() || may_drop, "prompts-are-not-lost", || {
            format!("{:?} when the round ended as {reason}", self.taken)
        })?;
        // A budget may also turn out to be spent once the answer is there.
        let is_answered = result.stop_reason.as_deref() != Some("tool_use");
        let limit = match reason {
            "budget_exhausted" => !is_answered,
            reason => matches!(reason, "max_turns" | "token_budget_exhausted"),
        };
        ensure(self.joined == 0 || !limit, "no-round-joins-what-it-cannot-answer", || {
            format!("{} prompts joined a round that ended as {reason}", self.joined)
        })?;
        for uuid in &result.user_message_uuids {
            let first = self.answered.insert(uuid.clone());
            ensure(first, "prompts-are-answered-once", || uuid.to_string())?;
        }
        self.taken.clear();
        (self.phase, self.fresh, self.joined) = (Phase::Idle, 0, 0);
        self.note(reason)
    }

    fn note(&mut self, what: &str) -> Checked {
        *self.endings.entry(what.to_owned()).or_default() += 1;
        Ok(())
    }

    /// What must hold between two steps.
    pub(super) fn check(&self, activity: Activity, asked: bool) -> Checked {
        match activity {
            Activity::Ended => {
                return ensure(self.ended, "the-end-is-told", || "no End came".to_owned());
            }
            Activity::Running if self.edge.is_some() => {}
            Activity::Running => {
                ensure(self.phase != Phase::Idle, "running-means-a-round", String::new)?;
                let fine = match self.state {
                    None => true,
                    Some(SessionState::Idle) => false,
                    Some(state) => asked == (state == SessionState::RequiresAction),
                };
                ensure(fine, "states-are-told", || format!("{:?}, asked: {asked}", self.state))?;
            }
            Activity::Idle => {
                let phase = self.phase;
                ensure(phase == Phase::Idle, "idle-means-a-result", || format!("{phase:?}"))?;
                let waits = self.pending.first().or(self.taken.first());
                ensure(waits.is_none(), "prompts-are-not-lost", || format!("{waits:?} waits"))?;
                let told = self.state.is_none_or(|state| state == SessionState::Idle)
                    || !self.agents.is_empty();
                ensure(told, "states-are-told", || format!("{:?} when idle", self.state))?;
                let is_over = |state: &str| matches!(state, "completed" | "cancelled");
                let unfinished = self.lifecycle.iter().find(|(_, state)| !is_over(state));
                ensure(unfinished.is_none(), "lifecycles-end", || format!("{unfinished:?}"))?;
            }
        }
        ensure(!self.ended, "the-end-is-the-end", || format!("{activity:?} after End"))
    }
}

/// Commands are answered in a round of their own and not written down.
fn is_command(prompt: &Prompt) -> bool {
    prompt.content.plain_text().starts_with('/')
}
