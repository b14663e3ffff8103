//! Connecting to one server: start it or reach it, shake hands, list what it offers.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{ClientInitializeError, RunningService, ServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tillerman_protocol::mcp::{McpServerConfig, RemoteMcpServer, StdioMcpServer, TaggedMcpServer};
use tokio::sync::mpsc;

use crate::board::{Board, Connected, LastWords, Order};
use crate::config::NamedServer;
use crate::handler::Handler;
use crate::listing;
use crate::names::is_unmistakable;
use crate::sign_in::{Refusal, Tokens};
use crate::transport::{
    EventStream, HelperError, InProcess, OpenStreamError, StartChildError, Stdio, http,
    with_helped_headers,
};

/// A connection that works.
pub(crate) struct Connection {
    pub(crate) running: RunningService<RoleClient, Handler>,
    pub(crate) connected: Connected,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Start(#[from] StartChildError),
    #[error("{0}")]
    Headers(#[from] HelperError),
    #[error("{0}")]
    Client(#[from] http::ClientError),
    #[error("{0}")]
    EventStream(#[from] OpenStreamError),
    #[error("{words}")]
    Handshake { words: String },
    #[error("{0}")]
    NeedsAuth(Refusal),
    #[error("its tokens cannot be used: {0}")]
    Tokens(#[from] rmcp::transport::auth::AuthError),
    #[error("it does not list its tools: {0}")]
    Listing(listing::ListError),
    #[error("it did not answer within {seconds} s")]
    TooSlow { seconds: f64 },
    #[error("this kind of server is not supported; use stdio, http or sse: {0}")]
    Unsupported(String),
    #[error(
        "its name cannot be told from the names of other servers' tools, so it was not started. \
         Give it a name of letters, digits and single dashes or underscores"
    )]
    Name,
    #[error("a host is needed for a server inside its process, and there is none")]
    NoHost,
}

/// Connects to a server and lists what it offers. The caller sets the deadline.
///
/// # Cancel safety
/// Dropping the future closes the connection and kills the child process.
pub(crate) async fn connect(
    server: &NamedServer,
    board: &Arc<Board>,
    orders: mpsc::WeakSender<Order>,
) -> Result<Connection, ConnectError> {
    if !is_unmistakable(&server.name) {
        return Err(ConnectError::Name);
    }
    let connection = reach(server, board, orders).await;
    if let Err(ConnectError::NeedsAuth(refusal)) = &connection {
        refusal.remember(board.config.credentials.as_ref(), server).await;
    }
    connection
}

async fn reach(
    server: &NamedServer,
    board: &Arc<Board>,
    orders: mpsc::WeakSender<Order>,
) -> Result<Connection, ConnectError> {
    let words = LastWords::default();
    let handler = Handler::new(server.name.clone(), Arc::clone(board), orders);
    let running = match &server.config {
        McpServerConfig::Bare(child) | McpServerConfig::Tagged(TaggedMcpServer::Stdio(child)) => {
            reach_child(child, board, handler, &words).await?
        }
        McpServerConfig::Tagged(TaggedMcpServer::Http(remote)) => {
            let remote = with_helped_headers(&server.name, remote, &board.config).await?;
            let tokens = tokens(server, &remote, board).await?;
            reach_http(&remote, tokens, handler, &words).await?
        }
        McpServerConfig::Tagged(TaggedMcpServer::Sse(remote)) => {
            let remote = with_helped_headers(&server.name, remote, &board.config).await?;
            let tokens = tokens(server, &remote, board).await?;
            let opened = EventStream::open(&remote, tokens, words.clone()).await;
            let transport = opened.map_err(|error| match error {
                OpenStreamError::Status(401) => ConnectError::NeedsAuth(Refusal::SignIn),
                error => error.into(),
            })?;
            shaken(handler.serve(transport).await, &words)?
        }
        McpServerConfig::Tagged(TaggedMcpServer::Sdk { .. }) => {
            let host = board.await_host().await.ok_or(ConnectError::NoHost)?;
            let transport = InProcess::new(server.name.clone(), host, words.clone());
            shaken(handler.serve(transport).await, &words)?
        }
        McpServerConfig::Tagged(TaggedMcpServer::Ws(_)) => {
            return Err(ConnectError::Unsupported("WebSocket".to_owned()));
        }
        McpServerConfig::Other(value) => {
            let kind =
                value.get("type").map_or_else(|| "no command".to_owned(), ToString::to_string);
            return Err(ConnectError::Unsupported(kind));
        }
    };
    let peer = running.peer().clone();
    let info = peer.peer_info();
    let capabilities = info.as_ref().map(|info| info.capabilities.clone()).unwrap_or_default();
    let listing = listing::list(&peer, &capabilities).await;
    let listing = listing.map_err(|error| match error {
        listing::ListError::Refused(refusal) => ConnectError::NeedsAuth(refusal),
        error @ listing::ListError::Failed(_) => ConnectError::Listing(error),
    })?;
    let connected = Connected {
        instructions: info.as_ref().and_then(|info| info.instructions.clone()),
        implementation: info.and_then(|info| info.server_info.clone()),
        capabilities,
        tools: listing.tools,
        prompts: listing.prompts,
        last_words: words,
        peer,
    };
    Ok(Connection { running, connected })
}

async fn reach_child(
    child: &StdioMcpServer,
    board: &Board,
    handler: Handler,
    words: &LastWords,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    let config = &board.config;
    let transport = Stdio::start(child, &config.environment, &config.cwd, words.clone())?;
    shaken(handler.serve(transport).await, words)
}

async fn tokens(
    server: &NamedServer,
    remote: &RemoteMcpServer,
    board: &Board,
) -> Result<Option<Tokens>, ConnectError> {
    Ok(Tokens::of(board.config.credentials.as_ref(), &server.name, remote).await?)
}

async fn reach_http(
    remote: &RemoteMcpServer,
    tokens: Option<Tokens>,
    handler: Handler,
    words: &LastWords,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    let client = http::client(&remote.url).await?;
    let config = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str())
        .custom_headers(http::headers(&remote.headers)?)
        .max_sse_event_size(crate::transport::LONGEST_MESSAGE);
    let Some(tokens) = tokens else {
        let transport = StreamableHttpClientTransport::with_client(client, config);
        return shaken(handler.serve(transport).await, words);
    };
    let transport = StreamableHttpClientTransport::with_client(tokens.client(client), config);
    shaken(handler.serve(transport).await, words)
}

/// The connection, or why the handshake failed, in the words of whoever knows best.
fn shaken(
    outcome: Result<RunningService<RoleClient, Handler>, ClientInitializeError>,
    words: &LastWords,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    outcome.map_err(|error| {
        if let Some(refusal) = Refusal::of_handshake(&error) {
            return ConnectError::NeedsAuth(refusal);
        }
        let words = words.get().unwrap_or_else(|| match &error {
            ClientInitializeError::TransportError { error, .. } => {
                let text = chain(&*error.error);
                let is_unreachable = text.contains("error sending request");
                if is_unreachable { format!("it cannot be reached: {text}") } else { text }
            }
            ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
            ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
            _ => "its answer to the handshake is not MCP".to_owned(),
        });
        ConnectError::Handshake { words }
    })
}

/// An error with everything that caused it.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        source = cause.source();
    }
    texts.join(": ")
}

/// An input or output failure of a transport.
pub(crate) fn broken(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, why.into())
}
