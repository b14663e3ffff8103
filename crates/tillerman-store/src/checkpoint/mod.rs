//! File checkpoints: what working directories held, by content, so that it can be brought back.
//!
//! Modules are listed in reading order.

mod file_checkpoints;
mod shelf;

mod tree;

mod scan;
mod walk;

mod borrow;
mod objects;

mod change;
mod codec;
mod log;

mod lines;
mod plan;
mod restore;

mod reach;

mod notes;

pub use file_checkpoints::{CheckpointLimits, FileCheckpoints, file_history_dir};
