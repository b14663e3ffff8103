//! How a client opens a session on a host: the first message on its WebSocket.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The path at which hosts take such connections.
pub const OPEN_PATH: &str = "/api/v1/sdk";

/// The first message of a client, as one line of JSON: `{"type":"open","options":{…}}`.
///
/// Every further message, in both directions, is one frame of stream-json as its text. A client
/// that has nothing more to say sends `{"type":"end_input"}`, and the host sends
/// `{"type":"closed","exit_code":0}` before it closes the connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Open a session.
    Open {
        /// Which one.
        options: OpenRequest,
    },
    /// Nothing more will be said; the session finishes what it has begun.
    EndInput,
}

/// The session to open, in the terms of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenRequest {
    /// The working directory on the host; nothing leaves it to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The arguments that a subprocess would get, without the program.
    pub args: Vec<String>,
    /// Variables that a subprocess would get on top of its environment. Hosts may refuse some.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// What a host says beside frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HostMessage {
    /// The session could not be opened; the connection is closed next.
    Refused {
        /// Why, for people.
        error: String,
        /// Why, for programs: `session_not_found`, `invalid_options` or `unsupported`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The session is over; the connection is closed next.
    Closed {
        /// What a subprocess would have returned.
        exit_code: i32,
    },
}
