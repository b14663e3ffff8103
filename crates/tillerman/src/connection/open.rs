//! Opening a connection.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde_json::Value;
use tillerman_protocol::control::ControlBody;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::budget::Meter;
use crate::connection::actor::{Actor, State, Timing};
use crate::connection::host::Host;
use crate::connection::mirror::Mirror;
use crate::connection::order::Order;
use crate::connection::{limits, stored};
use crate::error::{Error, ErrorKind, Result};
use crate::events::Watch;
use crate::message::{Message, Prompt};
use crate::options::Options;
use crate::transport::{InProcess, Subprocess, Transport};

const READY_MESSAGES: usize = 64;
/// The oldest protocol that is spoken here.
const OLDEST: u64 = 2;

/// When the input ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Once all prompts are answered and nothing works for them any more.
    WhenDone,
    /// When the caller says so.
    WhenClosed,
}

/// What to open.
pub(crate) struct Plan {
    pub(crate) options: Options,
    pub(crate) prompts: Option<Pin<Box<dyn Stream<Item = Prompt> + Send>>>,
    pub(crate) ends: Ends,
    pub(crate) orders: mpsc::Receiver<Order>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("options", &self.options).finish_non_exhaustive()
    }
}

/// An open connection. Dropping it ends the session.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) messages: mpsc::Receiver<Result<Message>>,
    _task: JoinSet<()>,
}

/// Opens a session and waits until the engine is ready.
pub(crate) async fn open(plan: Plan) -> Result<Connection> {
    let Plan { mut options, prompts, ends, orders } = plan;
    let transport = transport_of(&options);
    options.check(transport.as_ref())?;
    options.callbacks.hooks.extend(limits::hook(&options));
    let home = stored::lay_out(&mut options).await?;
    let patience = options.surroundings.patience;
    let opening = transport.open(options.launch()?);
    let Ok(link) = tokio::time::timeout(patience.start, opening).await else {
        let text = "the engine did not start in time; raise `start_timeout` to wait longer";
        return Err(Error::new(ErrorKind::Timeout, text));
    };
    let (sender, messages) = mpsc::channel(READY_MESSAGES);
    let (ready, is_ready) = oneshot::channel();
    let actor = Actor {
        link: link?,
        orders,
        messages: sender,
        prompts,
        host: Host::new(&options),
        ends,
        timing: Timing {
            start: patience.start,
            request: patience.request,
            background: patience.background,
        },
        cancel: options.surroundings.cancel.clone().unwrap_or_default(),
        watch: options.surroundings.events.clone().map(Watch::new),
        meter: options.model.limits.budget.clone().map(Meter::new),
        mirror: options.session.store.clone().map(Mirror::new),
        ready: Some(ready),
        state: State::default(),
    };
    let handshake = ControlBody::Initialize(Box::new(options.handshake()));
    let mut task = JoinSet::new();
    task.spawn(async move {
        actor.run(handshake).await;
        // The engine is gone by now, and what it resumed from is in the store.
        drop(home);
    });
    match is_ready.await {
        Ok(ready) => ready.map(|_| Connection { messages, _task: task }),
        Err(_) => {
            let text = "the session ended before it began";
            Err(Error::new(ErrorKind::Connection, text))
        }
    }
}

fn transport_of(options: &Options) -> Arc<dyn Transport> {
    let surroundings = &options.surroundings;
    let names_program =
        surroundings.program.path.is_some() || surroundings.program.runtime.is_some();
    match &surroundings.transport {
        Some(transport) => Arc::clone(transport),
        None if names_program => Arc::new(Subprocess::new()),
        None => Arc::new(InProcess::new()),
    }
}

/// Refuses engines that speak an older protocol. Those that do not say are given the benefit of
/// the doubt.
pub(crate) fn check_greeting(greeting: Value) -> Result<Value> {
    let version = greeting.get("claude_code_version").and_then(Value::as_str).unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    if major.is_some_and(|major| major < OLDEST) {
        let text = format!(
            "the engine speaks version {version} of the protocol, and this SDK needs at least \
             {OLDEST}.0.0; the session was ended; update the program or let the engine run in \
             this process"
        );
        return Err(Error::new(ErrorKind::Version, text));
    }
    Ok(greeting)
}
