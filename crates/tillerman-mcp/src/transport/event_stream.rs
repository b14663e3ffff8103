//! Servers of the older HTTP transport: answers come as events, messages are posted.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, RequestBuilder, Response, Url};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tillerman_protocol::mcp::RemoteMcpServer;

use super::events::{Event, EventReader};
use super::http::{self, ClientError};
use super::message::{Ear, Heard};
use crate::board::LastWords;
use crate::connect::{broken, chain};
use crate::sign_in::{SendError, Tokens};

type Pieces = std::pin::Pin<Box<dyn Stream<Item = Result<Vec<u8>, reqwest::Error>> + Send>>;

/// Why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenStreamError {
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it answered with status {0}")]
    Status(u16),
    #[error("its event stream does not say where messages go")]
    NoEndpoint,
}

/// An open event stream and the address that messages are posted to.
pub(crate) struct EventStream {
    client: Client,
    headers: HeaderMap,
    tokens: Option<Arc<Tokens>>,
    endpoint: Url,
    pieces: Pieces,
    reader: EventReader,
    events: VecDeque<Event>,
    ear: Ear,
    words: LastWords,
}

impl EventStream {
    /// Opens the stream and waits until the server says where messages go.
    pub(crate) async fn open(
        server: &RemoteMcpServer,
        tokens: Option<Tokens>,
        words: LastWords,
    ) -> Result<Self, OpenStreamError> {
        let client = http::client(&server.url).await?;
        let headers: HeaderMap = http::headers(&server.headers)?.into_iter().collect();
        let tokens = tokens.map(Arc::new);
        let unreachable = |error: SendError| OpenStreamError::Unreachable(chain(&error));
        let url =
            Url::parse(server.url.trim()).map_err(|_| ClientError::Url(server.url.clone()))?;
        let request = client.get(url.clone()).headers(headers.clone());
        let request = request.header(ACCEPT, "text/event-stream");
        let response = send(request, tokens.as_deref()).await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(OpenStreamError::Status(response.status().as_u16()));
        }
        let pieces = response.bytes_stream().map(|piece| piece.map(|piece| piece.to_vec()));
        let mut stream = Self {
            client,
            headers,
            tokens,
            endpoint: url.clone(),
            pieces: Box::pin(pieces),
            reader: EventReader::default(),
            events: VecDeque::new(),
            ear: Ear::default(),
            words,
        };
        stream.endpoint = stream.find_endpoint(&url).await.ok_or(OpenStreamError::NoEndpoint)?;
        Ok(stream)
    }

    async fn find_endpoint(&mut self, base: &Url) -> Option<Url> {
        loop {
            let event = self.next_event().await?;
            if event.name == "endpoint" {
                let endpoint = base.join(event.data.trim()).ok()?;
                // Tokens must not be posted to a server that nobody configured.
                return (endpoint.origin() == base.origin()).then_some(endpoint);
            }
        }
    }

    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            match self.pieces.next().await {
                Some(Ok(piece)) => match self.reader.push(&piece) {
                    Ok(events) => self.events.extend(events),
                    Err(error) => {
                        self.words.say(error.to_string());
                        return None;
                    }
                },
                Some(Err(error)) => {
                    self.words.say(format!("its event stream broke: {}", chain(&error)));
                    return None;
                }
                None => {
                    self.words.say("it ended its event stream");
                    return None;
                }
            }
        }
    }
}

async fn send(request: RequestBuilder, tokens: Option<&Tokens>) -> Result<Response, SendError> {
    match tokens {
        Some(tokens) => tokens.send(request).await,
        None => Ok(request.send().await?),
    }
}

impl Transport<RoleClient> for EventStream {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let request = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json");
        let tokens = self.tokens.clone();
        async move {
            let body = serde_json::to_vec(&item).map_err(io::Error::other)?;
            let response = send(request.body(body), tokens.as_deref()).await;
            let response = response.map_err(|error| broken(chain(&error)))?;
            if response.status().is_success() {
                Ok(())
            } else {
                Err(broken(format!("it answered with status {}", response.status().as_u16())))
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.next_event().await?;
            match self.ear.hear(event.data.as_bytes()) {
                Heard::Message(message) => return Some(*message),
                Heard::Noise => {}
                Heard::TooMuchNoise => {
                    self.words.say("what it sends is not MCP");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.pieces = Box::pin(futures_util::stream::empty());
        Ok(())
    }
}
