//! Runs hooks that are written down: commands, web addresses, MCP tools, and questions to a model
//! or an agent.
//!
//! Whatever a handler does, a run ends with a report. Modules are listed in reading order.

mod config;
mod runner;

mod agent;
mod asking;
mod command;
mod following;
mod http;
mod mcp_tool;
mod prompt;
mod tab;

mod meaning;
mod shorten;

mod capture;
mod interpolate;
mod tree;

pub use config::HookConfig;
pub use runner::Handlers;
