//! One task per session: it steps the engine and carries out its effects through ports.
//!
//! A front end talks to a session in frames only: [`Inbound`] in, frames out. Modules are listed
//! in reading order.

mod hook_setup;
mod setup;

mod session_task;

mod agents;
mod teams;

mod approver;
mod board_hooks;
mod bypass;
mod carry_out;
mod checkpoints;
mod control;
mod display;
mod elicitation;
mod file_watch;
mod inquiries;
mod invocations;
mod letting_go;
mod live_settings;
mod malformed;
mod mcp;
mod model_switch;

mod work;

mod expander;

mod bound_programs;
mod facts;
mod file_view;
mod hook_bills;
mod hook_book;
mod hook_desk;
mod hook_lent;
mod hook_line;
mod hook_matcher;
mod hook_runs;
mod hook_sight;
mod mcp_desk;
mod questions;
mod redact;
mod task_desk;
mod task_files;
mod watching;

mod context_usage;
mod server_instructions;
mod structured_output;
mod tool_search;
mod tool_shelf;

pub use agents::{AgentLimits, AgentSetup, Chosen, MainAgent};
pub use facts::{RealDisk, bounds, hidden};
pub use hook_setup::HookSetup;
pub use mcp_desk::BorrowedServers;
pub use redact::Secrets;
pub use session_task::{Inbound, SessionEnd, run};
pub use setup::{Ports, SessionSetup, SystemPrompt};
pub use structured_output::{SchemaError, StructuredOutput};
pub use teams::TeamSetup;
