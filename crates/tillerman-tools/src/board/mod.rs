//! The list of tasks that a team shares, and the tools that work on it.
//!
//! Modules are listed in reading order.

mod list;
mod storage;

mod change;
mod tools;

pub use tools::board_tools;
