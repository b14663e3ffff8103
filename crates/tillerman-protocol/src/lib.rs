//! Every wire and stored type of Tillerman, with tolerant readers and exact writers.
//!
//! Modules are listed in reading order. Nothing here performs I/O or knows async.

pub mod ids;
mod lenient;
pub mod time;

pub mod content;
pub mod stream;

pub mod hook;
pub mod mcp;
pub mod permission;

pub mod control;
pub mod frame;
pub mod ipc;
pub mod open;

pub mod agent;
pub mod catalog;
pub mod sandbox;
pub mod settings;
pub mod transcript;

pub mod model;
pub mod task;
pub mod tool;

pub use ids::{EntryId, RequestId, SessionId, TaskId, ToolUseId};
pub use time::Moment;
