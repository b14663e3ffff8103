//! Sessions in this process, without any other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_assembly::{Parts, Session, SessionEnd, StartFailure, assemble, run};
use tillerman_ports::{BoxFuture, Model, Tool};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};
use crate::transport::launch::Launch;
use crate::transport::link::{Ending, Incoming, Link, Outgoing, Transport};
use crate::transport::order::session_order;

const OUTGOING: usize = 64;
const INCOMING: usize = 256;

/// The engine in this process: no other program, nothing to install.
///
/// Sessions share nothing, neither directory nor variables nor credentials. What only this
/// transport can do is to take objects of this process: a model or tools of your own.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct InProcess {
    parts: Parts,
}

impl InProcess {
    /// The engine as it is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has this model answer in place of the providers.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.parts.model = Some(model);
        self
    }

    /// Adds a built-in tool, or replaces the one of its name. Most tools are better off as those
    /// of [`create_mcp_server`](crate::create_mcp_server), which work over every transport.
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.parts.tools.push(tool);
        self
    }

    /// Confines commands with this program, a `tillerman` binary. Without one, a session whose
    /// settings ask for the sandbox does not start.
    pub fn stage_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.parts.stage_program = Some(program.into());
        self
    }
}

impl Transport for InProcess {
    fn name(&self) -> &'static str {
        "in-process"
    }

    fn open(&self, launch: Launch) -> BoxFuture<Result<Link>> {
        let parts = self.parts.clone();
        Box::pin(async move {
            let mut order = session_order(&launch)?;
            order.parts = parts;
            let assembled = assemble(&order, CancellationToken::new()).await;
            let session = run(assembled.map_err(|failure| refusal(&failure))?);
            let (outgoing, orders) = mpsc::channel(OUTGOING);
            let (sayings, incoming) = mpsc::channel(INCOMING);
            let mut tasks = JoinSet::new();
            tasks.spawn(keep(session, orders, sayings, launch.grace));
            Ok(Link::new(outgoing, incoming, tasks))
        })
    }
}

fn refusal(failure: &StartFailure) -> Error {
    let text = &failure.message;
    let (kind, advice) = if text.contains("No conversation found") {
        (ErrorKind::SessionNotFound, "; nothing was started; leave `resume` out to start afresh")
    } else {
        (ErrorKind::InvalidOptions, "")
    };
    Error::new(kind, format!("{text}{advice}"))
}

/// Carries a session on until it ends, or until it is told to.
async fn keep(
    session: Session,
    mut orders: mpsc::Receiver<Outgoing>,
    sayings: mpsc::Sender<Incoming>,
    grace: Duration,
) {
    let Session { handle, mut frames, ended, .. } = session;
    let forwarding = async {
        while let Some(frame) = frames.recv().await {
            if sayings.send(Incoming::Frame(Box::new(frame))).await.is_err() {
                break;
            }
        }
    };
    let living = async { tokio::join!(ended, forwarding).0 };
    tokio::pin!(living);
    let hearing = async {
        while let Some(order) = orders.recv().await {
            let told = match order {
                Outgoing::Frame(frame) => handle.send(*frame).await,
                Outgoing::EndInput => handle.close().await,
                Outgoing::Stop => break,
            };
            if told.is_err() {
                // It has ended, and its end is on its way.
                std::future::pending::<()>().await;
            }
        }
    };
    let end = tokio::select! {
        end = &mut living => Some(end),
        () = hearing => {
            let _is_busy = handle.shut_down().is_err();
            tokio::time::timeout(grace, &mut living).await.ok()
        }
    };
    let ending = Ending::exited(Some(end.as_ref().map_or(1, exit_code)));
    drop(sayings.send(Incoming::Ended(ending)).await);
}

fn exit_code(end: &SessionEnd) -> i32 {
    i32::from(end.last_result_failed || end.storage_failure.is_some())
}
