//! The host: conversations with agents for people at a browser, behind HTTP and WebSocket.
//!
//! The host is a client of the stream-json protocol like any SDK: a [`Launcher`] gives it running
//! sessions as two channels of frames, and everything else is built on those. Modules are listed
//! in reading order.

pub mod wire;

mod settings;

mod last_words;
mod launch;
mod subprocess;

mod access;
mod store;

mod compose;
mod display;
mod document;
mod forms;
mod metrics;

mod live;
mod shelf;

mod api;
mod host;
mod ipc;
mod reindex;
mod serve;
mod summary;

pub use access::{Role, Token, User};
pub use host::{Host, StartHostError, UserError};
pub use ipc::{IpcEnd, IpcSettings, Memory, PrepareImage};
pub use launch::{
    BoxFuture, Health, LaunchError, Launcher, OWNER_VARIABLE, OpenOrder, RunEnd, RunOrder,
    RunningSession, SessionStart,
};
pub use reindex::{Reindexed, Retold};
pub use serve::{ServeError, Served};
pub use settings::{Assets, Counter, FurtherCounters, HostSettings, Page, Timeouts};
pub use store::{DataInspection, DatabaseState, OpenStoreError, Store, StoreError};
pub use subprocess::{RunAs, Subprocess};
