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
mod round;

mod session;

mod authorize;
mod commands;
mod converse;
mod finish;
mod record;
mod renewal;
mod settle;
mod tasks;

pub use calls::{AskId, CallId, HookRunId, ResponseId, TimerId};
pub use commands::COMMANDS;
pub use config::{Echo, Limits, Origin, SessionConfig};
pub use conversation::Conversation;
pub use effect::{Effect, PermissionAsk, Standing, Sync};
pub use hooks::{HookDecision, HookOutcome};
pub use identity::IdSource;
pub use input::{
    Author, CommandUse, Input, Judgement, Listing, PermissionAnswer, Prompt, TaskStart, ToolChange,
};
pub use ledger::Ledger;
pub use replay::{Restored, restore};
pub use session::{Activity, Session};
