//! Ways to move messages: child processes, event streams, and the host's own channel.

mod lines;
mod message;

mod group;
mod stdio;

mod in_process;

mod headers_helper;
pub(crate) mod http;

mod event_stream;
mod events;

pub(crate) use event_stream::{EventStream, OpenStreamError};
pub(crate) use headers_helper::{HelperError, with_helped_headers};
pub(crate) use in_process::InProcess;
pub(crate) use message::LONGEST_MESSAGE;
pub(crate) use stdio::{StartChildError, Stdio};
