//! One task per session that stands between its transport and its callers.

mod controls;
mod open;
mod order;

mod actor;

mod ending;
mod goodbye;
mod host;
mod inbox;
mod progress;
mod requests;

mod limits;
mod mirror;
mod stored;

pub use controls::{
    AccountInfo, Controls, Interrupted, McpChanges, ModelInfo, Rewound, ServerInfo, SlashCommand,
};
pub(crate) use open::{Connection, Ends, Plan, open};
pub(crate) use order::orders;
