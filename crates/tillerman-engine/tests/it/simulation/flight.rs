//! Work that a session started and that has neither ended nor been cancelled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;
use tillerman_engine::{AskId, CallId, HookRunId, ResponseId, TimerId};
use tillerman_protocol::TaskId;
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::model::ModelEvent;

use super::dice::Dice;
use super::fault::{Checked, ensure};

/// Whether a piece of work ever ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Ends,
    NeverEnds,
}

/// Everything under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub(super) responses: BTreeMap<ResponseId, VecDeque<ModelEvent>>,
    pub(super) judging: BTreeMap<CallId, String>,
    pub(super) asks: BTreeMap<AskId, (Value, Patience)>,
    pub(super) tools: BTreeMap<CallId, Patience>,
    pub(super) hooks: BTreeMap<HookRunId, HookEvent>,
    pub(super) timers: BTreeSet<TimerId>,
    /// Work that tools left behind; it may go on while the session rests.
    pub(super) tasks: BTreeMap<TaskId, Task>,
}

/// How a task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Works(Patience),
    /// The session asked it to end, this often.
    Stopped(u32),
}

impl Task {
    pub(super) const fn stop(&mut self) {
        *self = match self {
            Self::Works(_) => Self::Stopped(1),
            Self::Stopped(times) => Self::Stopped(*times + 1),
        };
    }
}

/// One piece of work that could report next.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    Response(ResponseId),
    Judgement(CallId),
    Ask(AskId),
    Tool(CallId),
    Hooks(HookRunId),
    Timer(TimerId),
    Task(TaskId),
}

impl Flight {
    /// Something that can report now. With `everything`, also what would never end by itself.
    pub(super) fn ready(&self, dice: &mut Dice, everything: bool) -> Option<Ready> {
        let mut ready = Vec::new();
        let comes = |patience: Patience| everything || patience == Patience::Ends;
        let talks = self.responses.iter().filter(|(_, script)| everything || !script.is_empty());
        ready.extend(talks.map(|(id, _)| Ready::Response(*id)));
        ready.extend(self.judging.keys().map(|id| Ready::Judgement(*id)));
        let asks = self.asks.iter().filter(|(_, (_, patience))| comes(*patience));
        ready.extend(asks.map(|(id, _)| Ready::Ask(*id)));
        let tools = self.tools.iter().filter(|(_, patience)| comes(**patience));
        ready.extend(tools.map(|(id, _)| Ready::Tool(*id)));
        ready.extend(self.hooks.keys().map(|id| Ready::Hooks(*id)));
        ready.extend(self.timers.iter().map(|id| Ready::Timer(*id)));
        // Whoever closes the input has to see to it that tasks end.
        let ends = |task: Task| task != Task::Works(Patience::NeverEnds);
        let tasks = self.tasks.iter().filter(|(_, task)| ends(**task));
        ready.extend(tasks.map(|(id, _)| Ready::Task(id.clone())));
        if ready.is_empty() { None } else { Some(dice.pick(&ready)) }
    }

    /// Judgements are not listed: they are computed, not waited for, and cannot be cancelled.
    /// While tasks go on, a timer may run that ends them.
    pub(super) fn check_idle(&self) -> Checked {
        let nothing = self.responses.is_empty()
            && self.asks.is_empty()
            && self.tools.is_empty()
            && self.hooks.is_empty()
            && self.timers.len() <= usize::from(!self.tasks.is_empty());
        ensure(nothing, "nothing-runs-when-idle", || format!("{self:?}"))
    }

    /// Nothing outlives the session.
    pub(super) fn check_ended(&self) -> Checked {
        self.check_idle()?;
        let stopped = self.tasks.values().all(|task| matches!(task, Task::Stopped(_)));
        let nothing = self.timers.is_empty() && stopped;
        ensure(nothing, "nothing-outlives-the-session", || format!("{self:?}"))
    }
}

/// The event whose hooks are told this.
pub(super) const fn event_of(detail: &HookDetail) -> HookEvent {
    match detail {
        HookDetail::PreToolUse { .. } => HookEvent::PreToolUse,
        HookDetail::PostToolUse { .. } => HookEvent::PostToolUse,
        HookDetail::PostToolUseFailure { .. } => HookEvent::PostToolUseFailure,
        HookDetail::PostToolBatch { .. } => HookEvent::PostToolBatch,
        HookDetail::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
        HookDetail::Stop { .. } => HookEvent::Stop,
        HookDetail::StopFailure { .. } => HookEvent::StopFailure,
        HookDetail::PermissionRequest { .. } => HookEvent::PermissionRequest,
        HookDetail::PreCompact { .. } => HookEvent::PreCompact,
        HookDetail::PostCompact { .. } => HookEvent::PostCompact,
        HookDetail::SessionStart { .. } => HookEvent::SessionStart,
        HookDetail::SessionEnd { .. } => HookEvent::SessionEnd,
        _ => HookEvent::Notification,
    }
}
