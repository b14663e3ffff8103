//! The session as a pure state machine: everything it hears is an [`Input`], everything it wants
//! is an [`Effect`], and [`Session::step`] never waits.
//!
//! Modules are listed in reading order.

mod effect;
mod input;

mod config;
mod identity;
mod window;

mod conversation;
mod keepsakes;
mod meter;
mod replacing;
mod replay;

mod response;
mod retry;

mod calls;
mod compaction;
mod hooks;

mod ledger;
mod pool;
mod round;

mod session;

mod allowance;
mod authorize;
mod boundaries;
mod commands;
mod compact;
mod context;
mod converse;
mod estimate;
mod finish;
mod interrupt;
mod news;
mod notices;
mod prompts;
mod record;
mod renewal;
mod reopen;
mod resting;
mod settle;
mod structured;
mod switching;
mod tasks;
mod threshold;
mod view;

mod retelling;
mod summary;

pub use allowance::Deadline;
pub use calls::{AskId, CallId, HookRunId, ResponseId, TimerId};
pub use commands::{ALIASES, COMMANDS};
pub use config::{AgentIdentity, Books, Echo, Limits, Origin, Seat, SessionConfig};
pub use context::{ContextUsage, tool_tokens};
pub use conversation::Conversation;
pub use effect::{Effect, PermissionAsk, Standing, Sync};
pub use hooks::{HookDecision, HookOutcome};
pub use identity::IdSource;
pub use input::{
    AgentTask, Author, CommandUse, Expansion, Input, Judgement, Listing, News, PermissionAnswer,
    Place, Prompt, TaskStart, ToolChange,
};
pub use ledger::{Bill, Ledger};
pub use pool::{Budget, Grant, Pool, Share, Shortage, Ticket};
pub use replay::{Interrupted, Restored, restore};
pub use session::{Activity, Session};
pub use structured::StructuredOutputConfig;
pub use threshold::Beginning;
pub use window::{CompactionConfig, CompactionMode};
