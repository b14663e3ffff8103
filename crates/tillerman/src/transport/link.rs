//! The contract between the SDK and a transport: two bounded queues of frames.

use std::fmt;

use tillerman_ports::BoxFuture;
use tillerman_protocol::frame::Frame;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::transport::launch::Launch;

/// A way to reach an engine.
pub trait Transport: fmt::Debug + Send + Sync {
    /// What it is called in errors.
    fn name(&self) -> &'static str;

    /// Whether it can run another program than its own.
    ///
    /// A transport that cannot makes `path_to_executable` and `executable` errors.
    fn runs_programs(&self) -> bool {
        false
    }

    /// Whether its engine has a standard error of its own.
    ///
    /// A transport without one makes `stderr` an error.
    fn has_stderr(&self) -> bool {
        false
    }

    /// Opens a session.
    ///
    /// # Errors
    /// When the engine cannot be started or reached.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing running.
    fn open(&self, launch: Launch) -> BoxFuture<Result<Link>>;
}

/// An open session: frames go out on one queue and come in on another.
///
/// Dropping a link asks the engine to leave. What is left of it then is the transport's to tidy
/// up, in the background and within the grace of its [`Launch`].
#[derive(Debug)]
pub struct Link {
    outgoing: mpsc::Sender<Outgoing>,
    incoming: mpsc::Receiver<Incoming>,
    tasks: JoinSet<()>,
}

/// What the SDK wants of a transport.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outgoing {
    /// Send this frame.
    Frame(Box<Frame>),
    /// Nothing more will be sent; the engine finishes what it has begun and ends.
    EndInput,
    /// The engine is to leave now.
    Stop,
}

/// What a transport has to say.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A frame.
    Frame(Box<Frame>),
    /// A line of standard error.
    Stderr(String),
    /// Something that is no frame; the rest goes on.
    Unreadable(Error),
    /// The session is over. Nothing follows.
    Ended(Ending),
}

/// How a session ended.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Ending {
    /// What a process returned; 0 where there is no process and all went well.
    pub exit_code: Option<i32>,
    /// Why the transport itself failed.
    pub error: Option<Error>,
}

impl Ending {
    /// An engine that returned this.
    #[must_use]
    pub const fn exited(exit_code: Option<i32>) -> Self {
        Self { exit_code, error: None }
    }

    /// A transport that broke.
    #[must_use]
    pub const fn failed(error: Error) -> Self {
        Self { exit_code: None, error: Some(error) }
    }
}

impl Link {
    /// A link over these queues, kept up by these tasks.
    ///
    /// The tasks should end soon after they hear [`Outgoing::Stop`] or find their queue closed.
    #[must_use]
    pub const fn new(
        outgoing: mpsc::Sender<Outgoing>,
        incoming: mpsc::Receiver<Incoming>,
        tasks: JoinSet<()>,
    ) -> Self {
        Self { outgoing, incoming, tasks }
    }

    pub(crate) const fn outgoing(&self) -> &mpsc::Sender<Outgoing> {
        &self.outgoing
    }

    pub(crate) const fn incoming(&mut self) -> &mut mpsc::Receiver<Incoming> {
        &mut self.incoming
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // A full queue is closed by the drop itself, which tasks take for the same wish.
        drop(self.outgoing.try_send(Outgoing::Stop));
        // Whoever keeps up the link ends the engine in good order; aborting would orphan it.
        self.tasks.detach_all();
    }
}
