//! Serving: connections in, with limits on them before anything is read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::api::{ApiState, Gate, router};
use crate::host::Host;
use crate::live::Directory;
use crate::shelf::Shelf;

const MOST_CONNECTIONS: usize = 2_048;
const MOST_SOCKETS: usize = 1_024;
const LARGEST_HEAD: usize = 64 * 1024;
/// How long connections may take to end when the host does.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait when no connection can be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is open to others than this machine.
    #[error(
        "{0} is open to other machines, and the host speaks plain HTTP. Bind to a loopback \
         address and put a proxy with TLS in front"
    )]
    NotLoopback(SocketAddr),
    /// The listener does not know its address.
    #[error("the listener has no address: {0}")]
    NoAddress(std::io::Error),
}

/// A host that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served;

impl Host {
    /// Serves until it is told to end, then has every run end so that it goes on after the next
    /// start.
    ///
    /// # Errors
    ///
    /// When the listener is bound to an address that other machines reach.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends every session at once. Transcripts and cards stay whole.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<Served, ServeError> {
        let address = listener.local_addr().map_err(ServeError::NoAddress)?;
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address));
        }
        let shared = self.shared;
        let (directory, keeping) = Directory::new(Arc::clone(&shared));
        let mut keeper = JoinSet::new();
        keeper.spawn(keeping);
        let leaving = CancellationToken::new();
        let mut shelf = Shelf::new(Arc::clone(&shared));
        // Runs that go on are to find their projects as they are now.
        shelf.read().await;
        keeper.spawn(shelf.follow(leaving.clone()));
        directory.wake_all().await;
        let state = Arc::new(ApiState {
            gate: Gate::new(shared.store.clone(), Arc::clone(&shared.now)),
            hosts: hosts(address, &shared.settings.allowed_hosts),
            sockets: Arc::new(Semaphore::new(MOST_SOCKETS)),
            leaving: leaving.clone(),
            directory: directory.clone(),
            shared: Arc::clone(&shared),
        });
        let mut connections = JoinSet::new();
        let head = shared.settings.timeouts.head;
        let door = Door { router: router(state), head, leaving: leaving.clone() };
        accept(&listener, &door, &shutdown, &mut connections).await;
        drop(listener);
        let longest = shared.settings.timeouts.drain + GOODBYE;
        directory.drain(longest).await;
        leaving.cancel();
        let ending = async { while connections.join_next().await.is_some() {} };
        // Whoever does not hang up is cut off; nothing of theirs is lost.
        drop(tokio::time::timeout(GOODBYE, ending).await);
        Ok(Served)
    }
}

/// The names under which the host may be asked for.
fn hosts(address: SocketAddr, allowed: &[String]) -> Vec<String> {
    let port = address.port();
    let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
    own.into_iter().chain([address.to_string()]).chain(allowed.iter().cloned()).collect()
}

/// What every connection meets.
#[derive(Clone)]
struct Door {
    router: Router,
    /// How long the head of a request may take.
    head: Duration,
    leaving: CancellationToken,
}

async fn accept(
    listener: &TcpListener,
    door: &Door,
    shutdown: &CancellationToken,
    connections: &mut JoinSet<()>,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = shutdown.cancelled() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually too many open files; those that are served go on.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            tracing::warn!("too many connections; one was turned away");
            continue;
        };
        let door = door.clone();
        connections.spawn(async move {
            attend(stream, peer, door).await;
            drop(permit);
        });
    }
}

async fn attend(stream: TcpStream, peer: SocketAddr, door: Door) {
    let Door { router, head, leaving } = door;
    // Small messages must not wait for larger ones.
    drop(stream.set_nodelay(true));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        served = connection.as_mut() => {
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended badly");
            }
        }
        () = leaving.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(tokio::time::timeout(GOODBYE, connection).await);
        }
    }
}
