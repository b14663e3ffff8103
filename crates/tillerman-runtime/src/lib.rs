//! One task per session: it steps the engine and carries out its effects through ports.
//!
//! A front end talks to a session in frames only: [`Inbound`] in, frames out. Modules are listed
//! in reading order.

mod setup;

mod session_task;

mod bypass;
mod carry_out;
mod checkpoints;
mod control;
mod invocations;
mod malformed;

mod work;

mod expander;

mod facts;
mod hook_desk;
mod questions;
mod redact;
mod task_desk;

mod context_usage;

pub use facts::RealDisk;
pub use redact::Secrets;
pub use session_task::{Inbound, SessionEnd, run};
pub use setup::{Ports, SessionSetup, SystemPrompt};
