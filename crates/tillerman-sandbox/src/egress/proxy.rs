//! The proxy itself: a socket in a private directory and a task for each connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::broker::{Broker, LentCredential, StartBrokerError, TrustedRoots};
use super::connect::{Gate, Resolve, SystemResolver};
use super::rules::{BadDomain, DomainRules};
use super::violations::{Violation, ViolationLog};
use super::{http, socks};
use crate::confinement::{ProxyRules, Upstream};

/// How many connections are served at the same time.
const MOST_CONNECTIONS: usize = 256;
/// How long a client may take to say what it wants.
pub(super) const REQUEST_WAIT: Duration = Duration::from_secs(30);
const SOCKS_VERSION: u8 = 5;

/// A proxy that lets confined commands reach allowed domains, over HTTP and SOCKS on one socket. It
/// ends when it is dropped.
#[derive(Debug)]
pub struct EgressProxy {
    socket: PathBuf,
    tasks: JoinSet<()>,
    violations: Arc<ViolationLog>,
    broker: Arc<Broker>,
}

/// The world outside, as the proxy knows it.
#[derive(Clone, Debug)]
pub struct Outside {
    /// Who finds the addresses of names.
    pub resolver: Arc<dyn Resolve>,
    /// Whose word counts about who a host is.
    pub roots: TrustedRoots,
}

impl Default for Outside {
    fn default() -> Self {
        Self { resolver: Arc::new(SystemResolver), roots: TrustedRoots::System }
    }
}

/// Why no proxy could be started.
#[derive(Debug, thiserror::Error)]
pub enum StartProxyError {
    /// A rule is no domain.
    #[error("a rule for the network cannot be understood")]
    Rule(#[from] BadDomain),
    /// A credential cannot be lent.
    #[error("a credential cannot be lent")]
    Broker(#[from] StartBrokerError),
    /// The socket could not be made.
    #[error("the socket {} could not be made", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl EgressProxy {
    /// Starts a proxy that listens on a socket and lends credentials; where another carries the
    /// traffic there is nobody to lend them. Whoever can reach the socket can use it, so its
    /// directory must be private. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// When a rule is no domain, a credential cannot be lent, or the socket cannot be made.
    pub fn start(
        socket: PathBuf,
        rules: &ProxyRules,
        outside: &Outside,
        credentials: &[LentCredential],
    ) -> Result<Self, StartProxyError> {
        let violations = Arc::new(ViolationLog::default());
        let lent = match rules.upstream {
            Upstream::BuiltIn => credentials,
            Upstream::Own { .. } => &[],
        };
        let broker = Arc::new(Broker::start(lent, &outside.roots)?);
        let gate = Gate {
            rules: DomainRules::parse(&rules.allowed, &rules.denied)?,
            private_addresses: rules.private_addresses,
            resolver: Arc::clone(&outside.resolver),
            violations: Arc::clone(&violations),
            broker: Arc::clone(&broker),
        };
        let failed = |source| StartProxyError::Socket { path: socket.clone(), source };
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        open_to_all(&socket).map_err(failed)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::new(gate), rules.upstream));
        Ok(Self { socket, tasks, violations, broker })
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Puts into a command's environment what it needs to use the credentials that are lent.
    pub fn lend(&self, environment: &mut BTreeMap<OsString, OsString>) {
        self.broker.lend(environment);
    }

    /// Takes out what was tried and refused since the last time.
    #[must_use]
    pub fn take_violations(&self) -> Vec<Violation> {
        self.violations.take()
    }

    /// Whether it still serves.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.tasks.is_empty()
    }
}

/// Started as root the command has another user; who may come near is decided by the directory.
fn open_to_all(socket: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o666))
}

async fn accept(listener: UnixListener, gate: Arc<Gate>, upstream: Upstream) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((client, _)) => {
                let gate = Arc::clone(&gate);
                connections.spawn(async move {
                    // A connection that breaks concerns nobody but its two ends.
                    drop(serve(client, &gate, upstream).await);
                });
            }
            // Out of descriptors, most likely: better wait than spin.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve(mut client: UnixStream, gate: &Gate, upstream: Upstream) -> io::Result<()> {
    let first = in_time(client.read_u8()).await?;
    match upstream {
        Upstream::BuiltIn if first == SOCKS_VERSION => socks::serve(client, gate).await,
        Upstream::BuiltIn => http::serve(client, first, gate).await,
        Upstream::Own { http, socks } => {
            let port = if first == SOCKS_VERSION { socks } else { http };
            let port = port.ok_or(io::ErrorKind::Unsupported)?;
            let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            server.write_u8(first).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
    }
}

/// Gives a client a limited time to say what it wants.
pub(super) async fn in_time<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(REQUEST_WAIT, work).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}
