//! Agents for Rust programs.
//!
//! Tillerman runs an agent: it talks to a model, runs the tools the model asks for, and asks you
//! before anything that could do harm. This crate is how programs use it: in this process without
//! any other, in a subprocess, or on a host, with the same code.
//!
//! ```
//! use futures_util::StreamExt as _;
//! use tillerman::{Options, query};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let options = Options::new().model("rehearsal").tools(["Glob"]).no_session_persistence();
//!     let mut messages = query("list files", options);
//!     while let Some(message) = messages.next().await {
//!         let message = message?;
//!         if let Some(text) = message.text() {
//!             println!("{text}");
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! `rehearsal` is the offline stand-in for a model, so that this runs anywhere. With
//! `ANTHROPIC_API_KEY` in the environment, leave the model out or name another.
//!
//! # Where to go next
//!
//! Read [`concepts`] from the first chapter on, copy from the [`cookbook`], and look things up here:
//!
//! | you want to | look at |
//! |---|---|
//! | ask once | [`prompt`] for the answer, [`query`] for everything on the way |
//! | have a conversation | [`Client`]; [`Session`] when you want to resume it later |
//! | supervise an agent like a process | [`run::Run`] |
//! | choose model, tools, limits, directory | [`Options`] |
//! | decide what the agent may do | [`Options::can_use_tool`], [`Options::hook`], [`callback`] |
//! | give it tools of your own | [`tools`] |
//! | read what it says and does | [`Message`], [`Answer`] |
//! | handle failures | [`Error`], [`ErrorKind`], [`Retry`] |
//! | steer it from another task | [`Controls`] |
//! | run it elsewhere | [`transport`] |
//! | keep costs, files and transcripts in hand | [`budget`], [`workspace`], [`events`], [`sessions`] |
//! | test your agent | `testing`, and [`concepts::testing`] |
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `macros` (on by default) | the attribute [`tools::tool`](macro@tools::tool) |
//! | `sqlite` | `sessions::SqliteStore` |
//! | `websocket` | `transport::WebSocket` |
//! | `testing` | `testing`: a scripted model server and transcripts to compare with |
//!
//! Everything here needs a tokio runtime with I/O and time enabled, of either flavour.

mod client;
mod connection;
mod error;
mod query;
mod random;
mod session;

pub mod concepts;
pub mod cookbook;

pub mod message;
pub mod options;

pub mod callback;
pub mod tools;

pub mod budget;
pub mod events;
pub mod run;
pub mod sessions;
pub mod workspace;

pub mod transport;

pub use callback::{Permission, PermissionMode, ToolRequest};
pub use client::{Client, Messages};
pub use connection::{
    AccountInfo, Controls, Interrupted, McpChanges, ModelInfo, Rewound, ServerInfo, SlashCommand,
};
pub use error::{Error, ErrorKind, Result, Retry};
pub use message::{Answer, Message, Prompt};
pub use options::Options;
pub use query::{Query, prompt, query};
pub use session::Session;
pub use tools::create_mcp_server;

pub use tillerman_ports::BoxFuture;

pub use tillerman_protocol::control::ControlBody;
pub use tillerman_protocol::mcp::McpServerStatus;
pub use tillerman_protocol::{EntryId, SessionId, TaskId, ToolUseId};

#[cfg(feature = "testing")]
pub mod testing;

/// What the code that `#[tool]` writes needs; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
}
