//! The calls of a turn: what state each is in and which may start next.

use serde_json::Value;
use tillerman_protocol::content::ToolResult;
use tillerman_protocol::tool::{Access, ToolOutcome};
use tillerman_protocol::{EntryId, Moment, ToolUseId};

use crate::replay::never_ran;

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u64);
    };
}

counter! {
    /// Names one attempt to get a response; reports of an abandoned attempt are recognised by it.
    ResponseId
}
counter! {
    /// Names one call inside the engine, whatever id the model gave it.
    CallId
}
counter! {
    /// Names one run of the hooks of an event.
    HookRunId
}
counter! {
    /// Names one permission question.
    AskId
}
counter! {
    /// Names one timer.
    TimerId
}

/// One call the model made.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    pub(crate) tool_use_id: ToolUseId,
    pub(crate) name: String,
    pub(crate) input: Value,
    /// The transcript entry that holds it.
    pub(crate) entry: EntryId,
    pub(crate) access: Access,
    /// Hooks were asked about the permission already and are not asked twice.
    pub(crate) hooks_asked: bool,
    /// Why a hook wants somebody to be asked.
    pub(crate) hook_reason: Option<String>,
    pub(crate) state: CallState,
    pub(crate) started_at: Moment,
}

/// How far a call has come.
#[derive(Clone, Debug)]
pub(crate) enum CallState {
    Waiting,
    BeforeHooks(HookRunId),
    Judging,
    PermissionHooks(HookRunId, Box<Question>),
    Asking(AskId),
    Running,
    AfterHooks(HookRunId, Box<ToolOutcome>),
    Deferred,
    Closed(Box<ToolResult>),
}

/// What would be asked if no hook answers.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) reason: Option<String>,
    /// Whether a hook gave the reason.
    pub(crate) by_hook: bool,
    pub(crate) blocked_path: Option<String>,
    pub(crate) suggestions: Vec<tillerman_protocol::permission::PermissionUpdate>,
}

impl CallState {
    const fn is_active(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Closed(_) | Self::Deferred)
    }

    const fn is_settled(&self) -> bool {
        matches!(self, Self::Closed(_) | Self::Deferred)
    }
}

/// The calls of the present turn, in the order in which the model made them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    list: Vec<Call>,
}

impl Calls {
    pub(crate) fn add(&mut self, call: Call) {
        self.list.push(call);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Call> {
        self.list.iter()
    }

    pub(crate) fn get_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.list.iter_mut().find(|call| call.id == id)
    }

    pub(crate) fn all_settled(&self) -> bool {
        self.list.iter().all(|call| call.state.is_settled())
    }

    /// The calls that are neither closed nor deferred.
    pub(crate) fn unsettled(&self) -> Vec<CallId> {
        self.list.iter().filter(|call| !call.state.is_settled()).map(|call| call.id).collect()
    }

    /// The call that waits for this hook run.
    pub(crate) fn of_hook(&self, run: HookRunId) -> Option<CallId> {
        let found = self.list.iter().find(|call| match call.state {
            CallState::BeforeHooks(held)
            | CallState::PermissionHooks(held, _)
            | CallState::AfterHooks(held, _) => held == run,
            _ => false,
        });
        found.map(|call| call.id)
    }

    /// The call that waits for this answer.
    pub(crate) fn of_ask(&self, ask: AskId) -> Option<CallId> {
        let asks = |call: &&Call| matches!(call.state, CallState::Asking(held) if held == ask);
        self.list.iter().find(asks).map(|call| call.id)
    }

    /// The next call that may start. Looking is done side by side, up to `parallel`; a change
    /// waits until everything before it is done, and everything after it waits for it.
    pub(crate) fn next_to_start(&self, parallel: usize) -> Option<CallId> {
        let active = self.list.iter().filter(|call| call.state.is_active()).count();
        for call in &self.list {
            if matches!(call.state, CallState::Waiting) {
                let free = match call.access {
                    Access::ReadOnly => active < parallel,
                    Access::Mutating => active == 0,
                };
                return free.then_some(call.id);
            }
            if call.state.is_active() && call.access == Access::Mutating {
                return None;
            }
        }
        None
    }

    /// The results of all settled calls; the turn is over.
    pub(crate) fn take_results(&mut self) -> Vec<ToolResult> {
        std::mem::take(&mut self.list)
            .into_iter()
            .filter_map(|call| match call.state {
                CallState::Closed(result) => Some(*result),
                CallState::Deferred => Some(never_ran(call.tool_use_id)),
                _ => None,
            })
            .collect()
    }
}
