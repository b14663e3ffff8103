//! Ways to move frames between the SDK and an engine.
//!
//! Everything above a [`Transport`] is the same whatever lies below it: [`InProcess`] runs the
//! engine inside this process, [`Subprocess`] starts a program that speaks stream-json, and
//! `WebSocket` reaches a session on a Tillerman host. What you write yourself is as good as they are.

mod launch;
mod link;

mod in_process;
mod subprocess;
#[cfg(feature = "websocket")]
mod websocket;

mod find;
mod kind;
mod lines;
mod order;
mod program;

pub use in_process::InProcess;
pub use launch::{Launch, OtherEngines, Runtime};
pub use link::{Ending, Incoming, Link, Outgoing, Transport};
pub use order::session_order;
pub use subprocess::Subprocess;
#[cfg(feature = "websocket")]
pub use websocket::WebSocket;
