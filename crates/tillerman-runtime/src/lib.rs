//! One task per session: it steps the engine and carries out its effects through ports.
//!
//! A front end talks to a session in frames only: [`Inbound`] in, frames out. Modules are listed
//! in reading order.

mod setup;

mod session_task;

mod carry_out;
mod control;

mod work;

mod facts;
mod hook_desk;
mod questions;

mod context_usage;

pub use session_task::{Inbound, SessionEnd, run};
pub use setup::{Ports, SessionSetup, SystemPrompt};
