//! The port to whoever watches sessions at work.

use tillerman_protocol::frame::ResultFrame;
use tillerman_protocol::model::{ModelEvent, ModelRequest};
use tillerman_protocol::tool::ToolOutcome;
use tillerman_protocol::{Moment, SessionId, ToolUseId};

/// Watches one session from inside its task: it is told in the order in which things happen, is
/// never asked anything, and must not wait. Dropping it means that the session is over.
pub trait Observer: Send + std::fmt::Debug {
    /// Something happened.
    fn note(&mut self, at: Moment, event: Observed<'_>);

    /// The observer of an agent that a call of this session starts.
    fn below(&self, call: &ToolUseId, agent: &ObservedAgent) -> Box<dyn Observer>;
}

/// An agent as observers know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedAgent {
    /// Names the agent.
    pub id: String,
    /// What kind of agent it is.
    pub kind: String,
}

/// What observers are told. Numbers name attempts and calls within one session.
#[derive(Clone, Copy, Debug)]
pub enum Observed<'a> {
    /// A prompt is worked on from now on.
    RoundStarted,
    /// The model is asked.
    ModelAsked {
        /// The attempt.
        response: u64,
        /// What it is asked.
        request: &'a ModelRequest,
    },
    /// The model reported something.
    ModelReported {
        /// The attempt.
        response: u64,
        /// What it reported.
        event: &'a ModelEvent,
    },
    /// An attempt is not wanted any more.
    ModelCancelled {
        /// The attempt.
        response: u64,
    },
    /// A tool runs; it was allowed to.
    CallStarted {
        /// The call.
        call: u64,
        /// The call as the model named it.
        tool_use_id: &'a ToolUseId,
        /// The tool.
        name: &'a str,
        /// Its input.
        input: &'a serde_json::Value,
    },
    /// A tool ended.
    CallEnded {
        /// The call.
        call: u64,
        /// How it ended, without credentials.
        outcome: &'a ToolOutcome,
    },
    /// A tool is not wanted any more.
    CallCancelled {
        /// The call.
        call: u64,
    },
    /// The conversation goes on as another session.
    StartedOver {
        /// That session.
        session: &'a SessionId,
    },
    /// The prompt has its result.
    RoundEnded {
        /// The result.
        result: &'a ResultFrame,
    },
}
