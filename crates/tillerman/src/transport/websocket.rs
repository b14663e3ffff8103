//! Sessions on a Tillerman host, over a WebSocket.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tillerman_ports::BoxFuture;
use tillerman_protocol::open::{ClientMessage, HostMessage, OPEN_PATH, OpenRequest};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{
    Connector, MaybeTlsStream, WebSocketStream, connect_async_tls_with_config,
};

use crate::error::{Error, ErrorKind, Result};
use crate::transport::launch::Launch;
use crate::transport::link::{Ending, Incoming, Link, Outgoing, Transport};
use crate::transport::subprocess::read_frame;

const OUTGOING: usize = 64;
const INCOMING: usize = 256;
/// How often a silent host is asked whether it is there.
const PING: Duration = Duration::from_secs(30);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A session on a Tillerman host.
///
/// The session runs on the host's machine, in a directory and with credentials of its own; your
/// callbacks and tools run here.
#[derive(Clone)]
pub struct WebSocket {
    address: String,
    token: String,
}

impl WebSocket {
    /// The host at this address, such as `ws://127.0.0.1:4100` or `wss://agents.example.com`, with
    /// the token it knows you by.
    pub fn new(address: impl Into<String>, token: impl Into<String>) -> Self {
        Self { address: address.into(), token: token.into() }
    }
}

/// Without the token, which is a secret.
impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Transport for WebSocket {
    fn name(&self) -> &'static str {
        "WebSocket"
    }

    fn open(&self, launch: Launch) -> BoxFuture<Result<Link>> {
        let host = self.clone();
        Box::pin(async move {
            let mut socket = host.connect(launch.max_line_bytes).await?;
            let hello = ClientMessage::Open { options: request(&launch) };
            let hello = serde_json::to_string(&hello).unwrap_or_default();
            let sent = socket.send(Message::text(hello)).await;
            sent.map_err(|error| host.unreachable().because(error))?;
            let (outgoing, orders) = mpsc::channel(OUTGOING);
            let (sayings, incoming) = mpsc::channel(INCOMING);
            let mut tasks = JoinSet::new();
            let (sink, stream) = socket.split();
            tasks.spawn(keep(sink, stream, orders, sayings, launch.grace));
            Ok(Link::new(outgoing, incoming, tasks))
        })
    }
}

impl WebSocket {
    async fn connect(&self, longest: usize) -> Result<Socket> {
        let address = format!("{}{OPEN_PATH}", self.address.trim_end_matches('/'));
        let invalid = |what: &str| {
            let text = format!("{what} of the host cannot be used; nothing was opened");
            Error::new(ErrorKind::InvalidOptions, text)
        };
        let request = address.as_str().into_client_request();
        let mut request = request.map_err(|error| invalid("the address").because(error))?;
        let mut token = HeaderValue::from_str(&format!("Bearer {}", self.token))
            .map_err(|error| invalid("the token").because(error))?;
        token.set_sensitive(true);
        request.headers_mut().insert("authorization", token);
        let config = WebSocketConfig::default()
            .max_message_size(Some(longest))
            .max_frame_size(Some(longest));
        let secure = request.uri().scheme_str() == Some("wss");
        let connector = if secure { Some(Connector::Rustls(tls()?)) } else { None };
        match connect_async_tls_with_config(request, Some(config), true, connector).await {
            Ok((socket, _)) => Ok(socket),
            Err(SocketError::Http(response)) if response.status() == 401 => {
                let text = format!("{} does not know the token; nothing was opened", self.address);
                Err(Error::new(ErrorKind::Refused, text))
            }
            Err(error) => Err(self.unreachable().because(error)),
        }
    }

    fn unreachable(&self) -> Error {
        let text = format!(
            "the host {} cannot be reached; nothing was opened; check the address, and that \
             `tillerman serve` runs there",
            self.address
        );
        Error::new(ErrorKind::Connection, text)
    }
}

/// The certificates of this machine. The provider is named, since a library must not set the
/// process-wide one.
fn tls() -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    let (added, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        let text = "no trusted certificates were found on this machine, so that no secure host \
                    can be checked; install ca-certificates";
        return Err(Error::new(ErrorKind::Connection, text));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Connection, "TLS cannot be set up").because(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn request(launch: &Launch) -> OpenRequest {
    OpenRequest {
        cwd: launch.cwd.as_ref().map(|cwd| cwd.display().to_string()),
        args: launch.arguments.clone(),
        env: launch.environment.clone(),
    }
}

/// Carries frames to and fro until either end closes.
async fn keep(
    mut sink: impl Sink<Message, Error = SocketError> + Unpin,
    mut stream: impl Stream<Item = std::result::Result<Message, SocketError>> + Unpin,
    mut orders: mpsc::Receiver<Outgoing>,
    sayings: mpsc::Sender<Incoming>,
    grace: Duration,
) {
    let mut pings = tokio::time::interval(PING);
    let mut is_told = false;
    loop {
        let sent = tokio::select! {
            order = orders.recv() => match order.map(|order| message(&order)) {
                Some(Some(message)) => sink.send(message).await,
                // The host ends a session whose connection is closed, and then closes its end.
                Some(None) | None => {
                    let leaving = async {
                        drop(sink.close().await);
                        while stream.next().await.is_some_and(|said| said.is_ok()) {}
                    };
                    let _is_late = tokio::time::timeout(grace, leaving).await.is_err();
                    break;
                }
            },
            said = stream.next() => match said {
                Some(Ok(Message::Text(text))) => {
                    let saying = read(&text);
                    is_told = matches!(saying, Incoming::Ended(_));
                    if sayings.send(saying).await.is_err() || is_told {
                        break;
                    }
                    Ok(())
                }
                Some(Ok(Message::Close(_))) | None => break,
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(error),
            },
            _ = pings.tick() => sink.send(Message::Ping(Vec::new().into())).await,
        };
        if let Err(error) = sent {
            let text = "the connection to the host was lost; the session may go on there";
            let error = Error::new(ErrorKind::Connection, text).because(error);
            drop(sayings.send(Incoming::Ended(Ending::failed(error))).await);
            return;
        }
    }
    if !is_told {
        let text = "the host closed the connection before the session was over";
        let error = Error::new(ErrorKind::Connection, text);
        drop(sayings.send(Incoming::Ended(Ending::failed(error))).await);
    }
}

/// What is sent for an order; nothing where the connection is to be closed.
fn message(order: &Outgoing) -> Option<Message> {
    let text = match order {
        Outgoing::Frame(frame) => serde_json::to_string(frame),
        Outgoing::EndInput => serde_json::to_string(&ClientMessage::EndInput),
        Outgoing::Stop => return None,
    };
    text.ok().map(Message::text)
}

fn read(text: &str) -> Incoming {
    match serde_json::from_str::<HostMessage>(text) {
        Ok(HostMessage::Closed { exit_code }) => Incoming::Ended(Ending::exited(Some(exit_code))),
        Ok(HostMessage::Refused { error, code }) => {
            let kind = match code.as_deref() {
                Some("session_not_found") => ErrorKind::SessionNotFound,
                Some("unsupported") => ErrorKind::Unsupported,
                Some("invalid_options") => ErrorKind::InvalidOptions,
                _ => ErrorKind::Refused,
            };
            Incoming::Ended(Ending::failed(Error::new(kind, error)))
        }
        Err(_) => read_frame(text.as_bytes()),
    }
}
