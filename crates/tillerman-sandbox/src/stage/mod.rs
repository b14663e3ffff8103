//! The stages a confined command passes through before it becomes itself.
//!
//! The first gives up what the host has, the second checks and watches the confinement from inside,
//! the third builds the inner walls and becomes the command.

mod bridge;
mod checks;
mod exec;
mod init;
mod run;
mod staging;
mod start;

pub(crate) use run::StageError;
pub use run::run_stage;
