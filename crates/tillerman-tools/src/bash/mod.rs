//! The tool that runs shell commands.

mod background;
mod capture;
mod directory;
mod exit;
mod foreground;
mod lasting;
mod meaning;
mod monitor;
mod report;
mod run;
mod tool;
mod tree;

pub(crate) use monitor::Monitor;
pub(crate) use tool::Bash;
