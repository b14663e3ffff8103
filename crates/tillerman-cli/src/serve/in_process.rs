//! Sessions of the host inside its own process.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use serde_json::{Value, json};
use tillerman_assembly::{
    Approver, Connections, Environment, FrameOrder, JsonSource, Parts, Resume, SendError, Session,
    SessionHandle, SessionOrder, WithoutCredentials, assemble, run,
};
use tillerman_host::{
    BoxFuture, Health, LaunchError, Launcher, OpenOrder, RunEnd, RunOrder, RunningSession,
    SessionStart,
};
use tillerman_ports::Tool;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::frame::Frame;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, SessionId};
use tillerman_telemetry::Telemetry;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::arguments::Arguments;
use crate::order::order_in;
use crate::serve::REHEARSAL;
use crate::traces::{Traces, watch};

const IN_FLIGHT: usize = 64;
/// Few enough that all of them together hold nobody up, and more than one, since a start may wait
/// for a program that brings credentials.
const STARTS_AT_ONCE: usize = 8;
/// How long a session may take to end when it is told to.
const LEAVE: Duration = Duration::from_secs(5);
const LONGEST_PROBE: Duration = Duration::from_secs(5);
/// What an assembly says about a session that it cannot find.
const NOT_FOUND: &str = "No conversation found";

/// What sessions have beside what the host says about them.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Tools of this process.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Calls that need no question.
    pub(crate) allow: Vec<String>,
    /// Agents beside those of files.
    pub(crate) agents: Vec<AgentDefinition>,
    /// Requests to the model in one round.
    pub(crate) max_turns: Option<u32>,
}

/// Starts sessions inside this process.
#[derive(Debug)]
pub(crate) struct InProcess {
    environment: Environment,
    /// Whether the rehearsal model stands in for one without credentials.
    rehearses: bool,
    provider: Option<String>,
    extras: Extras,
    telemetry: Option<Telemetry>,
    /// All sessions ask their providers over the same.
    connections: Connections,
    /// Setting a session up reads many files. Many starts at once take turns, so that those who
    /// listen to other sessions do not wait for all of them.
    starting: Semaphore,
}

impl InProcess {
    pub(crate) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        rehearses: bool,
    ) -> Self {
        let switches = [
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true"),
            ("CLAUDE_CODE_ENTRYPOINT", "tillerman-host"),
        ];
        let is_ours = |name: &OsString| switches.iter().any(|(switch, _)| name == switch);
        let others = variables.into_iter().filter(|(name, _)| !is_ours(name));
        let ours = switches.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::new(others.chain(ours));
        let provider = provider_address(&environment);
        Self {
            environment,
            rehearses,
            provider,
            extras: Extras::default(),
            telemetry: None,
            connections: Connections::default(),
            starting: Semaphore::new(STARTS_AT_ONCE),
        }
    }

    /// The same with more in every session.
    pub(crate) fn with(mut self, extras: Extras) -> Self {
        self.extras = extras;
        self
    }

    /// The same with every session watched, where somebody wants that.
    pub(crate) fn watched(mut self, traces: Option<&Traces>) -> Self {
        self.telemetry = traces.map(|traces| traces.telemetry().clone());
        self
    }

    async fn start(&self, order: &SessionOrder) -> Result<RunningSession, LaunchError> {
        let turn = self.starting.acquire().await;
        let setup = assemble(order, CancellationToken::new()).await;
        drop(turn);
        let mut setup = setup.map_err(|failure| {
            let session_is_gone = failure.message.contains(NOT_FOUND);
            LaunchError { message: failure.message, session_is_gone }
        })?;
        if let Some(telemetry) = &self.telemetry {
            watch(telemetry, &mut setup);
        }
        Ok(connect(run(setup)))
    }

    fn order(&self, order: &RunOrder) -> SessionOrder {
        let mut session = SessionOrder {
            cwd: order.cwd.clone(),
            environment: self.environment.clone(),
            owner: order.owner.clone(),
            frames: FrameOrder { partial_messages: true, ..FrameOrder::default() },
            parts: Parts {
                stage_program: std::env::current_exe().ok(),
                connections: self.connections.clone(),
                ..Parts::default()
            },
            ..SessionOrder::default()
        };
        match &order.session {
            SessionStart::Begin(id) => session.session.id = Some(SessionId::new(id)),
            SessionStart::Resume(id) => {
                session.session.resume = Some(Resume::Session(SessionId::new(id)));
            }
            SessionStart::ResumeBefore { session: id, message } => {
                session.session.resume = Some(Resume::Session(SessionId::new(id)));
                session.session.resume_drops = Some(EntryId::new(message));
            }
        }
        // Without credentials the stand-in says by itself that it is one.
        let stands_in = |model: &String| self.rehearses && model == REHEARSAL;
        session.model.model = order.model.clone().filter(|model| !stands_in(model));
        session.model.without_credentials = WithoutCredentials::Rehearse;
        session.limits.max_budget_usd = order.max_budget_usd;
        session.limits.max_turns = self.extras.max_turns;
        session.parts.tools.clone_from(&self.extras.tools);
        session.extension.agents.clone_from(&self.extras.agents);
        let permission = &mut session.permission;
        permission.allow.clone_from(&order.allowed_tools);
        permission.allow.extend_from_slice(&self.extras.allow);
        permission.deny.clone_from(&order.disallowed_tools);
        permission.guard.clone_from(&order.guarded_paths);
        permission.mode = PermissionMode::parse(&order.permission_mode);
        permission.may_bypass = order.may_bypass;
        permission.approver = Approver::Host;
        if !order.environment.is_empty() {
            session.extension.settings = Some(JsonSource::from(json!({"env": order.environment})));
        }
        if !order.mcp_servers.is_empty() {
            let servers = json!({"mcpServers": order.mcp_servers});
            session.extension.mcp_config.push(JsonSource::from(servers));
        }
        session
    }
}

impl Launcher for InProcess {
    fn launch(&self, order: RunOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        Box::pin(async move { self.start(&self.order(&order)).await })
    }

    fn open(&self, order: OpenOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        Box::pin(async move {
            let failed = |error: String| LaunchError::new(error);
            let words = std::iter::once("tillerman".to_owned()).chain(order.arguments);
            let arguments =
                Arguments::try_parse_from(words).map_err(|error| failed(error.to_string()))?;
            if arguments.command.is_some() {
                return Err(failed(
                    "A session is opened with flags, not with a command.".to_owned(),
                ));
            }
            let environment = self.environment.overlaid(order.environment.into_iter().collect());
            let mut session = order_in(order.cwd, environment, &arguments)
                .map_err(|failure| failed(failure.message))?;
            session.parts.connections = self.connections.clone();
            session.owner = order.owner;
            self.start(&session).await
        })
    }

    fn probe(&self, model: &str) -> BoxFuture<'_, Health> {
        let address = self.provider.clone().filter(|_| model != REHEARSAL);
        Box::pin(async move {
            let Some(address) = address else { return Health::Up };
            let connecting = TcpStream::connect(address);
            match tokio::time::timeout(LONGEST_PROBE, connecting).await {
                Ok(Ok(_)) => Health::Up,
                Ok(Err(_)) | Err(_) => Health::Down,
            }
        })
    }
}

/// The address at which the provider answers, as host and port.
pub(crate) fn provider_address(environment: &Environment) -> Option<String> {
    let base = environment.get("ANTHROPIC_BASE_URL");
    let base = base.unwrap_or_else(|| "https://api.anthropic.com".to_owned());
    let (scheme, rest) = base.split_once("://")?;
    let host = rest.split('/').next()?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "http" { 80 } else { 443 };
    Some(if has_port { host.to_owned() } else { format!("{host}:{port}") })
}

/// A session as the host knows it.
fn connect(session: Session) -> RunningSession {
    let (inbound, given) = mpsc::channel(IN_FLIGHT);
    let (said, outbound) = mpsc::channel(IN_FLIGHT);
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let ended = Box::pin(async move {
        let Session { handle, frames, ended, .. } = session;
        let working = async {
            let (end, ()) = tokio::join!(ended, speak(frames, said));
            let message = end.storage_failure;
            let exit_code = i32::from(end.last_result_failed || message.is_some());
            RunEnd { is_orderly: true, message: message.unwrap_or_default(), exit_code }
        };
        tokio::select! {
            end = working => end,
            () = leave(&stopped, &handle) => RunEnd { is_orderly: true, ..RunEnd::default() },
            () = listen(given, handle.clone()) => RunEnd::default(),
        }
    });
    RunningSession { inbound, outbound, stop, ended }
}

/// Hands the host's frames to the session, then closes its input; never ends.
async fn listen(mut given: mpsc::Receiver<Value>, handle: SessionHandle) {
    while let Some(frame) = given.recv().await {
        let sent = match serde_json::from_value::<Frame>(frame) {
            Ok(frame) => handle.send(frame).await,
            Err(error) => Err(SendError::NotAFrame(error)),
        };
        match sent {
            Ok(()) => {}
            Err(SendError::Ended) => break,
            Err(error) => tracing::error!(%error, "the host said something that is no frame"),
        }
    }
    if let Err(error) = handle.close().await {
        tracing::debug!(%error, "the session ended before its input was closed");
    }
    std::future::pending::<()>().await;
}

/// Hands the session's frames to the host.
async fn speak(mut frames: mpsc::Receiver<Frame>, said: mpsc::Sender<Value>) {
    while let Some(frame) = frames.recv().await {
        match serde_json::to_value(&frame) {
            Ok(frame) => {
                if said.send(frame).await.is_err() {
                    return;
                }
            }
            Err(error) => tracing::error!(%error, "a frame could not be written"),
        }
    }
}

/// Waits to be told, tells the session, and gives it a while.
async fn leave(stop: &CancellationToken, handle: &SessionHandle) {
    stop.cancelled().await;
    if let Err(error) = handle.shut_down() {
        tracing::debug!(%error, "the session could not be told to end");
    }
    tokio::time::sleep(LEAVE).await;
}
