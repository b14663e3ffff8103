//! The built-in tools.
//!
//! Modules are listed in reading order. Tools do what they are told: whether they may is decided
//! before they are called.

mod config;
mod session;

mod blocking;
mod input;

mod bash;
mod edit;
mod files;
mod read;
mod write;

pub use config::{ToolConfig, ToolLimits};
pub use session::session_tools;
