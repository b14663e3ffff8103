//! One prompt round: from a prompt to its result.

use serde_json::Value;
use tillerman_protocol::content::Block;
use tillerman_protocol::frame::PermissionDenial;
use tillerman_protocol::model::ModelFailure;
use tillerman_protocol::stream::Usage;
use tillerman_protocol::{EntryId, Moment};

use crate::calls::{Calls, HookRunId, ResponseId, TimerId};
use crate::compaction::Compaction;
use crate::input::Prompt;
use crate::response::Response;
use crate::switching::Switching;

/// What a round has done so far.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) started_at: Moment,
    pub(crate) stage: Stage,
    pub(crate) calls: Calls,
    /// The model of this round; a fallback lasts until the round ends.
    pub(crate) model: String,
    pub(crate) fallbacks_used: usize,
    /// Names the round to hooks: the host's id of its prompt, or one of our own.
    pub(crate) prompt_id: Option<String>,
    /// Ids that hosts gave to the prompts of this round.
    pub(crate) prompts: Vec<EntryId>,
    /// Whether hosts have seen the round begin.
    pub(crate) is_announced: bool,
    /// Tasks whose end the round was told of.
    pub(crate) tasks_heard_of: u32,
    /// The newest prompt that was taken up.
    pub(crate) prompt_text: Option<String>,
    /// Requests made, repetitions not counted.
    pub(crate) turns: u32,
    /// Whether the present turn is in the books, so that a repetition takes no second one.
    pub(crate) turn_entered: bool,
    /// Repetitions of the present request.
    pub(crate) retries: u32,
    /// How often a response that was cut short was asked to go on.
    pub(crate) recoveries: u32,
    pub(crate) empty_responses: u32,
    pub(crate) stop_blocks: u32,
    pub(crate) user_frames: u32,
    pub(crate) usage: Usage,
    pub(crate) denials: Vec<PermissionDenial>,
    pub(crate) last_text: String,
    pub(crate) stop_reason: Option<String>,
    /// Text that hooks want the model to see with the next request.
    pub(crate) context: Vec<String>,
    /// A hook wants the round to end, for this reason.
    pub(crate) halt: Option<String>,
    /// What the person asked for in this round.
    pub(crate) asked: Vec<Block>,
    /// How often a request of this round was too long.
    pub(crate) overflows: u32,
    /// A hook does not want this round to be compacted.
    pub(crate) compaction_refused: bool,
    /// The output that matches the schema.
    pub(crate) structured: Option<Value>,
    /// How often there was none, or one that does not match.
    pub(crate) structured_failures: u32,
}

/// What a round is waiting for.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Hooks look at what a command was made into.
    Expanding(HookRunId, Vec<Prompt>),
    /// Hooks look at the prompts.
    Submitting(HookRunId, Vec<Prompt>),
    /// The next request waits for its share of the budget.
    Reserving(ResponseId),
    /// The model answers; complete calls may already run.
    Responding(Box<Response>),
    /// A failed request waits to be repeated.
    BackingOff(TimerId),
    /// Hooks decide whether another model may answer.
    Switching(HookRunId, Switching),
    /// The response is whole; calls are still open.
    Working,
    /// The conversation makes room for the next request.
    Compacting(Box<Compaction>),
    /// Hooks look at the calls of the turn.
    BatchHooks(HookRunId),
    /// Hooks decide whether the agent may stop.
    Stopping(HookRunId),
    /// Hooks decide whether a teammate may rest.
    Resting(HookRunId),
    /// Hooks hear that the round failed.
    Failing(HookRunId, Box<Ending>),
    /// Between two stages, inside one step.
    Between,
}

/// How a round ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    Completed,
    /// A Stop hook wants no further rounds to follow from this one.
    Prevented,
    Refused,
    /// The session answered a command itself.
    Command(String),
    /// The conversation started over.
    Cleared,
    Blocked(String),
    Halted(String),
    MaxTurns,
    MaxBudget,
    MaxTokens,
    MaxTotalTurns,
    Deadline,
    Aborted {
        while_working: bool,
    },
    Deferred(Value),
    ApiError(Box<ModelFailure>),
    /// The context fills up as fast as it is compacted.
    Thrashing,
    CompactionFailed(String),
    /// No output matched the schema.
    NoStructuredOutput,
}

impl Round {
    pub(crate) fn new(started_at: Moment, model: String) -> Self {
        Self {
            started_at,
            stage: Stage::Between,
            calls: Calls::default(),
            model,
            fallbacks_used: 0,
            prompt_id: None,
            prompts: Vec::new(),
            is_announced: false,
            tasks_heard_of: 0,
            prompt_text: None,
            turns: 0,
            turn_entered: false,
            retries: 0,
            recoveries: 0,
            empty_responses: 0,
            stop_blocks: 0,
            user_frames: 0,
            usage: Usage::default(),
            denials: Vec::new(),
            last_text: String::new(),
            stop_reason: None,
            context: Vec::new(),
            halt: None,
            asked: Vec::new(),
            overflows: 0,
            compaction_refused: false,
            structured: None,
            structured_failures: 0,
        }
    }
}
