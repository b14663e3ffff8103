//! Everything a session wants done.

use serde_json::Value;
use tillerman_protocol::frame::Frame;
use tillerman_protocol::hook::HookInput;
use tillerman_protocol::model::ModelRequest;
use tillerman_protocol::permission::PermissionUpdate;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, SessionId, TaskId, ToolUseId};

use crate::calls::{AskId, CallId, HookRunId, ResponseId, TimerId};
use crate::ledger::Bill;
use crate::pool::Share;

/// Something to be done outside the engine, in the order given.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Show a frame to the host. Whatever it reports has been appended before.
    Emit(Box<Frame>),
    /// Append an entry to the transcript.
    Append(Box<Entry>),
    /// Make what was appended survive a loss of power.
    Sync(Sync),
    /// Keep the state of the working directories, before anything is done about these prompts.
    Checkpoint {
        /// The prompts it can be rewound to by.
        messages: Vec<EntryId>,
    },
    /// Set something aside for a response, from what all agents share.
    Reserve {
        /// The response.
        response: ResponseId,
        /// What it may take.
        share: Share,
    },
    /// The response will not be asked for.
    CancelReserve {
        /// The response.
        response: ResponseId,
    },
    /// Enter a response in the shared books, in place of what was set aside for it.
    Settle(Box<Bill>),
    /// Ask the model.
    CallModel {
        /// The response its reports belong to.
        response: ResponseId,
        /// What it is asked.
        request: Box<ModelRequest>,
    },
    /// The response is no longer wanted.
    CancelModel {
        /// The response.
        response: ResponseId,
    },
    /// Run the hooks of an event.
    RunHooks {
        /// The run their answers belong to.
        run: HookRunId,
        /// What they are told.
        input: Box<HookInput>,
    },
    /// Tell hooks of an event; nothing waits for what they say.
    TellHooks {
        /// What they are told.
        input: Box<HookInput>,
    },
    /// The hooks' answers are no longer wanted.
    CancelHooks {
        /// The run.
        run: HookRunId,
    },
    /// Have policy judge a call.
    JudgeCall {
        /// The call.
        call: CallId,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
        /// What was said about it before.
        standing: Standing,
    },
    /// Ask somebody for permission.
    AskPermission {
        /// The question.
        ask: AskId,
        /// What is asked.
        request: Box<PermissionAsk>,
    },
    /// The answer is no longer wanted.
    CancelAsk {
        /// The question.
        ask: AskId,
    },
    /// Apply and keep permission updates.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// Allow calls by these rules until the round has its result.
    Grant(Vec<String>),
    /// Keep what comes from now on as another session.
    StartOver {
        /// The new session.
        session: SessionId,
    },
    /// Run a tool.
    RunTool {
        /// The call.
        call: CallId,
        /// The call as the model named it.
        tool_use_id: ToolUseId,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// End a tool that runs.
    CancelTool {
        /// The call.
        call: CallId,
    },
    /// Begin the work of an agent; its task is known by now.
    StartTask {
        /// The task.
        task: TaskId,
    },
    /// End work in the background.
    StopTask {
        /// The task.
        task: TaskId,
    },
    /// Fire a timer after a while.
    StartTimer {
        /// The timer.
        timer: TimerId,
        /// Milliseconds from now.
        after_ms: u64,
    },
    /// The timer is no longer wanted.
    CancelTimer {
        /// The timer.
        timer: TimerId,
    },
    /// Nothing runs and nothing more can come.
    End,
}

/// How long to wait for a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Begin it and go on; a turn ended.
    Begin,
    /// Finish it before anything else is shown; a round ended.
    Finish,
}

/// What was said about a call before policy judges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    #[default]
    Fresh,
    /// A hook would allow it. Deny and ask rules still hold.
    HookAllowed,
    /// A hook wants somebody to be asked.
    HookAsked,
    /// Somebody approved it, with another input. Deny rules still hold.
    Approved,
}

/// A permission question.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionAsk {
    /// The call as the model named it.
    pub tool_use_id: ToolUseId,
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub input: Value,
    /// Why it is a question.
    pub reason: Option<String>,
    /// The path that made it a question.
    pub blocked_path: Option<String>,
    /// Updates that would make the question unnecessary.
    pub suggestions: Vec<PermissionUpdate>,
}
