//! MCP: a hub that owns all servers of a session, and the built-in tools as a server.
//!
//! A hub keeps one supervisor per server; each connects, lists what the server offers, connects
//! again when the connection is lost, and shows its state on a board that everything else reads.
//! Modules are listed in reading order.

mod config;
mod names;

mod board;
mod hub;
mod requests;
mod supervise;

mod connect;
mod defaults;
mod handler;
mod listing;
mod pages;

mod transport;

mod sign_in;

mod call;
mod outcome;
mod resources;
mod schema;
mod tool;

mod prompts;

mod serve;

pub use config::{ClientIdentity, HubConfig, Limits, NamedServer, Patience};
pub use hub::McpHub;
pub use serve::{Admission, Admitted, ServeError, serve};
pub use sign_in::{
    Callback, CallbackError, CredentialFiles, KeepError, SignIn, SignInError, SignInOptions,
};
