//! One supervisor per server: connects, listens, connects again, and obeys orders.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{QuitReason, RunningService, RunningServiceCancellationToken};
use tillerman_ports::BoxFuture;
use tillerman_protocol::mcp::{McpServerConfig, TaggedMcpServer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Connected, LastWords, Order, Phase};
use crate::config::{Kind, NamedServer, Patience};
use crate::connect::{ConnectError, Connection, connect};
use crate::handler::Handler;
use crate::listing;
use crate::sign_in::Watch;

/// How long a session gets to begin before servers are started that it does not wait for.
const LET_BEGIN: Duration = Duration::from_millis(100);
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// How long changes of lists are gathered, at first and in a storm of them.
const SHORTEST_GATHER: Duration = Duration::from_millis(50);
const LONGEST_GATHER: Duration = Duration::from_secs(5);
/// How long a connection gets to end.
const CLOSE: Duration = Duration::from_secs(3);
/// A connection that lasted this long was a good one.
const STEADY: Duration = Duration::from_secs(60);

type Answer = oneshot::Sender<Result<(), String>>;

/// Supervises a server until it is told to stop.
pub(crate) struct Supervisor {
    pub(crate) server: NamedServer,
    pub(crate) serial: u64,
    pub(crate) board: Arc<Board>,
    pub(crate) orders: mpsc::Receiver<Order>,
    /// Where the server's own notifications are sent to.
    /// Weak, so that a server taken off the board ends.
    pub(crate) own_orders: mpsc::WeakSender<Order>,
    pub(crate) stop: CancellationToken,
}

/// Why a supervisor stopped listening to a connection.
enum Break {
    Stopped,
    Lost,
    Reconnect(Answer),
    Disable(Answer),
}

/// What a supervisor does next.
enum Next {
    Stop,
    Wait,
    AwaitSignIn(Watch),
    Connect(Option<Answer>),
    Restore { last: Arc<Connected>, attempt: u32 },
}

impl Supervisor {
    /// Runs until the hub stops it.
    pub(crate) async fn run(mut self) {
        let mut next = self.begin().await;
        loop {
            next = match next {
                Next::Stop => return,
                Next::Wait => self.wait().await,
                Next::AwaitSignIn(watch) => self.await_sign_in(watch).await,
                Next::Connect(answer) => self.connect(answer).await,
                Next::Restore { last, attempt } => self.restore(last, attempt).await,
            };
        }
    }

    /// Ten programs that start at once would hold up the session; those that nobody waits for let it
    /// begin first.
    async fn begin(&self) -> Next {
        let pause = if self.server.patience == Patience::None { LET_BEGIN } else { Duration::ZERO };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Next::Stop,
            () = tokio::time::sleep(pause) => Next::Connect(None),
        }
    }

    /// Waits for orders while there is no connection.
    async fn wait(&mut self) -> Next {
        loop {
            let order = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Next::Stop,
                order = self.orders.recv() => order,
            };
            match order {
                None => return Next::Stop,
                Some(Order::Reconnect(answer) | Order::Enable(answer)) => {
                    return Next::Connect(Some(answer));
                }
                Some(Order::Disable(answer)) => {
                    self.disable(answer);
                    return Next::Wait;
                }
                Some(Order::Refresh) => {}
            }
        }
    }

    /// Waits for orders, and for somebody who signs in.
    async fn await_sign_in(&mut self, watch: Watch) -> Next {
        tokio::select! {
            biased;
            next = self.wait() => next,
            () = watch.changed() => Next::Connect(None),
        }
    }

    async fn connect(&mut self, answer: Option<Answer>) -> Next {
        self.show(Phase::Connecting);
        let watch = self.watch_tokens();
        match self.try_connect().await {
            Some(Ok(connection)) => {
                tell(answer, Ok(()));
                self.listen(connection).await
            }
            Some(Err(error)) => {
                tracing::warn!("the MCP server {} is not available: {error}", self.server.name);
                tell(answer, Err(error.to_string()));
                self.give_up(&error, watch)
            }
            None => Next::Stop,
        }
    }

    /// Makes a lost connection again, waiting longer each time.
    async fn restore(&mut self, last: Arc<Connected>, attempt: u32) -> Next {
        let why = last.last_words.get().unwrap_or_else(|| "the connection was lost".to_owned());
        if attempt >= self.board.config.limits.reconnects || self.kind() == Kind::InProcess {
            tracing::warn!("the MCP server {} is lost: {why}", self.server.name);
            self.show(Phase::Failed(why));
            return Next::Wait;
        }
        let phase = Phase::Reconnecting { last: Arc::clone(&last), why };
        self.show(phase);
        let pause = (FIRST_BACKOFF * 2_u32.saturating_pow(attempt)).min(LONGEST_BACKOFF);
        // The first attempt comes at once: most servers that end can be started again.
        let pause = if attempt == 0 { Duration::ZERO } else { pause };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return Next::Stop,
            order = self.orders.recv() => match order {
                None => return Next::Stop,
                Some(Order::Reconnect(answer) | Order::Enable(answer)) => {
                    return Next::Connect(Some(answer));
                }
                Some(Order::Disable(answer)) => {
                    self.disable(answer);
                    return Next::Wait;
                }
                Some(Order::Refresh) => {}
            },
            () = tokio::time::sleep(pause) => {}
        }
        let watch = self.watch_tokens();
        match self.try_connect().await {
            Some(Ok(connection)) => self.listen_again(connection, attempt).await,
            // No further attempt helps before somebody signs in.
            Some(Err(error @ ConnectError::NeedsAuth(_))) => self.give_up(&error, watch),
            Some(Err(error)) => {
                tracing::debug!("the MCP server {} is still lost: {error}", self.server.name);
                Next::Restore { last, attempt: attempt + 1 }
            }
            None => Next::Stop,
        }
    }

    /// Shows why there is no connection; tokens that come later are a reason to try again.
    fn give_up(&self, error: &ConnectError, watch: Option<Watch>) -> Next {
        self.show(phase_of(error));
        match (error, watch) {
            (ConnectError::NeedsAuth(_), Some(watch)) => Next::AwaitSignIn(watch),
            _ => Next::Wait,
        }
    }

    /// Begins before the connection is tried, so that no sign-in meanwhile is missed.
    fn watch_tokens(&self) -> Option<Watch> {
        let McpServerConfig::Tagged(TaggedMcpServer::Http(remote) | TaggedMcpServer::Sse(remote)) =
            &self.server.config
        else {
            return None;
        };
        let files = self.board.config.credentials.as_ref()?;
        Some(files.keeper(&self.server.name, &remote.url).watch())
    }

    /// A server that dies as soon as it is there counts as one failed attempt after the other.
    async fn listen_again(&mut self, connection: Connection, attempt: u32) -> Next {
        let since = Instant::now();
        match self.listen(connection).await {
            Next::Restore { last, .. } if since.elapsed() < STEADY => {
                Next::Restore { last, attempt: attempt + 1 }
            }
            next => next,
        }
    }

    /// Connects, taking turns with others; nothing when the hub stops meanwhile.
    async fn try_connect(&self) -> Option<Result<Connection, ConnectError>> {
        let turns = match self.kind() {
            Kind::Stdio => &self.board.stdio_turns,
            _ => &self.board.remote_turns,
        };
        let work = async {
            // The semaphore is never closed; without a turn we would only be less polite.
            let _turn = turns.acquire().await.ok();
            let connecting = connect(&self.server, &self.board, self.own_orders.clone());
            let limit = self.board.config.limits.connect;
            let connecting = Box::pin(connecting);
            tokio::time::timeout(limit, connecting)
                .await
                .unwrap_or(Err(ConnectError::TooSlow { seconds: limit.as_secs_f64() }))
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            connected = work => Some(connected),
        }
    }

    /// Keeps a connection until it ends.
    async fn listen(&mut self, connection: Connection) -> Next {
        let Connection { running, connected } = connection;
        let mut connected = Arc::new(connected);
        self.show(Phase::Connected(Arc::clone(&connected)));
        let mut wire = Wire::new(running);
        let end = self.obey(&mut wire, &mut connected).await;
        match end {
            Break::Lost => Next::Restore { last: connected, attempt: 0 },
            Break::Stopped => {
                wire.close().await;
                Next::Stop
            }
            Break::Reconnect(answer) => {
                wire.close().await;
                Next::Connect(Some(answer))
            }
            Break::Disable(answer) => {
                wire.close().await;
                self.disable(answer);
                Next::Wait
            }
        }
    }

    async fn obey(&mut self, wire: &mut Wire, connected: &mut Arc<Connected>) -> Break {
        let mut gather = SHORTEST_GATHER;
        let mut refresh_at: Option<Instant> = None;
        let mut refreshed = Instant::now();
        loop {
            let due = refresh_at.unwrap_or_else(|| Instant::now() + STEADY);
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Break::Stopped,
                () = wire.ended() => return Break::Lost,
                order = self.orders.recv() => match order {
                    None => return Break::Stopped,
                    Some(Order::Reconnect(answer)) => return Break::Reconnect(answer),
                    Some(Order::Disable(answer)) => return Break::Disable(answer),
                    Some(Order::Enable(answer)) => tell(Some(answer), Ok(())),
                    Some(Order::Refresh) => {
                        refresh_at.get_or_insert(Instant::now() + gather);
                    }
                },
                () = tokio::time::sleep_until(due), if refresh_at.is_some() => {
                    refresh_at = None;
                    let is_storm = refreshed.elapsed() < gather * 4;
                    gather = if is_storm { (gather * 2).min(LONGEST_GATHER) } else { SHORTEST_GATHER };
                    refreshed = Instant::now();
                    self.refresh(connected).await;
                }
            }
        }
    }

    /// Lists again what the server offers; what cannot be listed stays as it was.
    async fn refresh(&self, connected: &mut Arc<Connected>) {
        let listing = listing::list(&connected.peer, &connected.capabilities);
        let limit = self.board.config.limits.connect;
        match tokio::time::timeout(limit, listing).await {
            Ok(Ok(listing)) => {
                *connected = Arc::new(Connected {
                    peer: connected.peer.clone(),
                    implementation: connected.implementation.clone(),
                    capabilities: connected.capabilities.clone(),
                    instructions: connected.instructions.clone(),
                    tools: listing.tools,
                    prompts: listing.prompts,
                    last_words: connected.last_words.clone(),
                });
                self.show(Phase::Connected(Arc::clone(connected)));
            }
            Ok(Err(error)) => {
                tracing::warn!("the tools of {} cannot be listed: {error}", self.server.name);
            }
            Err(_) => tracing::warn!("{} does not list its tools any more", self.server.name),
        }
    }

    fn show(&self, phase: Phase) {
        self.board.show(&self.server.name, self.serial, phase);
    }

    fn disable(&self, answer: Answer) {
        self.show(Phase::Disabled);
        tell(Some(answer), Ok(()));
    }

    const fn kind(&self) -> Kind {
        Kind::of(&self.server.config)
    }
}

/// A connection's own task and the means to end it.
struct Wire {
    token: Option<RunningServiceCancellationToken>,
    ending: BoxFuture<Result<QuitReason, JoinError>>,
    has_ended: bool,
}

impl Wire {
    fn new(running: RunningService<RoleClient, Handler>) -> Self {
        let token = Some(running.cancellation_token());
        Self { token, ending: Box::pin(running.waiting()), has_ended: false }
    }

    async fn ended(&mut self) {
        if !self.has_ended {
            // How it ended is in the connection's last words.
            drop((&mut self.ending).await);
            self.has_ended = true;
        }
    }

    async fn close(mut self) {
        if let Some(token) = self.token.take() {
            token.cancel();
        }
        if tokio::time::timeout(CLOSE, self.ended()).await.is_err() {
            tracing::debug!("a connection did not end in time and was dropped");
        }
    }
}

fn phase_of(error: &ConnectError) -> Phase {
    match error {
        ConnectError::NeedsAuth(_) => Phase::NeedsAuth(error.to_string()),
        _ => Phase::Failed(error.to_string()),
    }
}

fn tell(answer: Option<Answer>, outcome: Result<(), String>) {
    if let Some(answer) = answer {
        // Whoever asked may have given up meanwhile.
        drop(answer.send(outcome));
    }
}

/// Words for a connection that ended, from whoever knows best.
pub(crate) fn ending_of(words: &LastWords) -> String {
    words.get().unwrap_or_else(|| "the connection was closed".to_owned())
}
