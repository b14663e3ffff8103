//! One compaction under way: why, how the model is asked, and what it waits for.

use std::collections::VecDeque;

use tillerman_protocol::hook::HookDetail;

use crate::calls::{HookRunId, ResponseId, TimerId};
use crate::response::Response;

/// How often a request for a summary that is too long is made smaller.
const MOST_CUTS: u32 = 4;
/// A request for a summary is not made smaller than this.
const LEAST_ROOM: u64 = 500;

/// Why the conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Somebody asked for it.
    Manual,
    /// There is no room for the next request.
    Auto,
}

impl Trigger {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}

/// How the model is shown what it is to summarise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The conversation as it is.
    Whole,
    /// As a text of at most so many tokens.
    Retold(u64),
}

/// What a compaction waits for.
#[derive(Debug)]
pub(crate) enum Step {
    /// Hooks decide whether it may happen.
    Permission(HookRunId),
    /// The request for the summary waits for its share of the budget.
    Share(ResponseId),
    /// The model writes the summary.
    Summary(Box<Response>),
    /// A failed request waits to be repeated.
    Pause(TimerId),
    /// Hooks hear that it happened; further ones wait.
    News(HookRunId, VecDeque<HookDetail>),
    /// Between two of these, inside one step.
    Between,
}

/// A compaction under way.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(crate) trigger: Trigger,
    /// What the person or hooks want to be kept.
    pub(crate) wishes: String,
    pub(crate) pre_tokens: u64,
    pub(crate) post_tokens: u64,
    pub(crate) form: Form,
    pub(crate) summary: String,
    pub(crate) step: Step,
    cuts: u32,
}

impl Compaction {
    pub(crate) fn new(trigger: Trigger, wishes: String, pre_tokens: u64, form: Form) -> Self {
        let (post_tokens, cuts) = (0, 0);
        let (summary, step) = (String::new(), Step::Between);
        Self { trigger, wishes, pre_tokens, post_tokens, form, summary, step, cuts }
    }

    /// Whether reports of this response belong to it.
    pub(crate) fn awaits(&self, id: ResponseId) -> bool {
        matches!(&self.step, Step::Summary(response) if response.id == id)
    }

    /// Whether it waits for this request's share of the budget.
    pub(crate) const fn reserves(&self, id: ResponseId) -> bool {
        matches!(&self.step, Step::Share(held) if held.0 == id.0)
    }

    /// The response it waits for.
    pub(crate) const fn response(&self) -> Option<&Response> {
        match &self.step {
            Step::Summary(response) => Some(response),
            _ => None,
        }
    }

    /// Whether it waits for this timer.
    pub(crate) const fn pauses(&self, timer: TimerId) -> bool {
        matches!(&self.step, Step::Pause(held) if held.0 == timer.0)
    }

    /// The hooks it waits for.
    pub(crate) const fn hook_run(&self) -> Option<HookRunId> {
        match self.step {
            Step::Permission(run) | Step::News(run, _) => Some(run),
            _ => None,
        }
    }

    /// Shows the model less the next time; false when that was tried often enough.
    pub(crate) fn cut(&mut self, room: u64) -> bool {
        let room = match self.form {
            Form::Whole => room.max(LEAST_ROOM),
            Form::Retold(before) => before / 2,
        };
        self.cuts += 1;
        self.form = Form::Retold(room.max(LEAST_ROOM));
        self.cuts <= MOST_CUTS && room >= LEAST_ROOM
    }
}
