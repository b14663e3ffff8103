//! The session as a pure state machine: everything it hears is an [`Input`], everything it wants
//! is an [`Effect`], and [`Session::step`] never waits.
//!
//! Modules are listed in reading order.

mod effect;
mod input;

mod config;
mod identity;

mod conversation;
mod replay;

mod response;
mod retry;

mod calls;
mod hooks;

mod ledger;
mod pool;
mod round;

mod session;

mod authorize;
mod commands;
mod converse;
mod estimate;
mod finish;
mod notices;
mod record;
mod settle;
mod tasks;
mod threshold;

pub use calls::{AskId, CallId, HookRunId, ResponseId, TimerId};
pub use commands::COMMANDS;
pub use config::{AgentIdentity, Books, Echo, Limits, Origin, SessionConfig};
pub use conversation::Conversation;
pub use effect::{Effect, PermissionAsk, Standing, Sync};
pub use hooks::{HookDecision, HookOutcome};
pub use identity::IdSource;
pub use input::{AgentTask, Author, Input, Judgement, PermissionAnswer, Place, Prompt, TaskStart};
pub use ledger::{Bill, Ledger};
pub use pool::{Grant, Pool, Ticket};
pub use replay::{Interrupted, Restored, restore};
pub use session::{Activity, Session};
pub use threshold::Beginning;
