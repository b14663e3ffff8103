//! What callers want of a connection.

use std::collections::BTreeMap;

use serde_json::Value;
use tillerman_protocol::EntryId;
use tillerman_protocol::control::ControlBody;
use tokio::sync::{mpsc, oneshot};

use crate::error::Result;
use crate::message::Prompt;
use crate::tools::McpServer;

const WAITING: usize = 64;

/// Something a caller wants.
#[derive(Debug)]
pub(crate) enum Order {
    /// Tell the session this.
    Prompt(Prompt, oneshot::Sender<Result<EntryId>>),
    /// Ask the engine this.
    Request(Box<ControlBody>, oneshot::Sender<Result<Value>>),
    /// Say what the engine answered to the handshake.
    Greeting(oneshot::Sender<Result<Value>>),
    /// Answer for these servers from now on, in place of those of the same names.
    Servers(BTreeMap<String, McpServer>),
    /// Nothing more will be said.
    EndInput,
    /// End now, and say so.
    Close(oneshot::Sender<Result<()>>),
}

/// A queue for orders.
pub(crate) fn orders() -> (mpsc::Sender<Order>, mpsc::Receiver<Order>) {
    mpsc::channel(WAITING)
}
