//! The host behind standard input and output: newline-delimited JSON for a desktop shell.
//!
//! It is one more client of the conversations, so that approvals last, sessions are resumed and
//! outages are waited out as they are for a browser. Modules are listed in reading order.

mod settings;

mod serve;

mod desk;
mod round;

mod ending;
mod translate;

mod history;
mod images;
mod memory;
mod words;

mod lines;
mod outlet;

pub use serve::IpcEnd;
pub use settings::{IpcSettings, Memory, PrepareImage};
