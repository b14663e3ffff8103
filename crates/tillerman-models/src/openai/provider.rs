//! Sends requests to an OpenAI-compatible server and reports what comes back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};

use super::body::body;
use super::choice::normal_base;
use super::config::OpenAiConfig;
use super::failure::{not_a_stream, read_refusal};
use super::translation::Translation;
use crate::connections::Connections;
use crate::estimate;
use crate::event_reader::{EventReader, cut};
use crate::http_client::HttpClient;
use crate::http_failure::read_body;
use crate::place::Place;
use crate::reply::Reply;
use crate::secret::{Secret, scrub};
use crate::sse::SseEvent;

/// How long a server may take to close or say [DONE] after it said why the model stopped.
const FAREWELL: Duration = Duration::from_secs(3);

/// A server that speaks OpenAI's chat completions. Every call is one attempt.
#[derive(Clone, Debug)]
pub struct OpenAiCompatible {
    connection: Arc<Connection>,
}

impl OpenAiCompatible {
    /// A provider with connections of its own; nothing is read, built or sent before the first
    /// request.
    #[must_use]
    pub fn new(config: OpenAiConfig) -> Self {
        Self::sharing(config, Connections::default())
    }

    /// A provider that shares connections with others.
    #[must_use]
    pub fn sharing(mut config: OpenAiConfig, connections: Connections) -> Self {
        config.base_url = normal_base(&config.base_url);
        let (agent, timeout) = (&config.user_agent, config.connect_timeout);
        let http = HttpClient::new(&config.base_url, agent, timeout, connections);
        Self { connection: Arc::new(Connection { config, http }) }
    }
}

impl Model for OpenAiCompatible {
    fn respond(&self, request: ModelRequest) -> EventStream {
        let connection = Arc::clone(&self.connection);
        Box::pin(stream::unfold(Phase::Sending(connection, Box::new(request)), Phase::advance))
    }

    /// These servers do not count, so this is an estimate.
    fn count_tokens(&self, request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        let tokens = estimate::request_tokens(&request);
        Box::pin(std::future::ready(Ok(tokens)))
    }
}

/// Where a streamed answer stands.
enum Phase {
    Sending(Arc<Connection>, Box<ModelRequest>),
    Reading(Box<Answer>),
    Ended(VecDeque<ModelEvent>),
}

/// An answer while it is being read.
struct Answer {
    connection: Arc<Connection>,
    reader: EventReader,
    translation: Translation,
    ready: VecDeque<ModelEvent>,
}

impl Phase {
    async fn advance(self) -> Option<(ModelEvent, Self)> {
        match self {
            Self::Sending(connection, request) => Some(Self::send(connection, request).await),
            Self::Reading(answer) => answer.next().await,
            Self::Ended(mut left) => left.pop_front().map(|event| (event, Self::Ended(left))),
        }
    }

    async fn send(connection: Arc<Connection>, request: Box<ModelRequest>) -> (ModelEvent, Self) {
        match connection.open(*request).await {
            Ok((reply, translation)) => {
                let request_id = reply.header("x-request-id").map(str::to_owned);
                let reader = EventReader::of_reply(reply, connection.config.idle_timeout);
                let ready = VecDeque::new();
                let answer = Answer { connection, reader, translation, ready };
                (ModelEvent::Accepted { request_id }, Self::Reading(Box::new(answer)))
            }
            Err(failure) => {
                (ModelEvent::Failed(connection.clean(failure)), Self::Ended(VecDeque::new()))
            }
        }
    }
}

impl Answer {
    async fn read(&mut self) -> Result<Option<SseEvent>, ModelFailure> {
        if !self.translation.has_outcome() {
            return self.reader.next().await;
        }
        tokio::time::timeout(FAREWELL, self.reader.next()).await.unwrap_or(Ok(None))
    }

    async fn next(mut self: Box<Self>) -> Option<(ModelEvent, Phase)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, Phase::Reading(self)));
            }
            let result = match self.read().await {
                Ok(Some(event)) => match event.data.trim() {
                    "" => continue,
                    "[DONE]" => Ok(None),
                    chunk => self.translation.chunk(chunk).map(Some),
                },
                // Not every server says [DONE]; the reason to stop is what completes an answer.
                Ok(None) | Err(_) if self.translation.has_outcome() => Ok(None),
                Ok(None) => Err(cut()),
                Err(failure) => Err(failure),
            };
            match result {
                Ok(Some(events)) => self.ready.extend(events.into_iter().map(ModelEvent::Stream)),
                Ok(None) => {
                    let mut left: VecDeque<ModelEvent> =
                        self.translation.finish().into_iter().map(ModelEvent::Stream).collect();
                    return left.pop_front().map(|event| (event, Phase::Ended(left)));
                }
                Err(failure) => {
                    let failed = ModelEvent::Failed(self.connection.clean(failure));
                    return Some((failed, Phase::Ended(VecDeque::new())));
                }
            }
        }
    }
}

#[derive(Debug)]
struct Connection {
    config: OpenAiConfig,
    http: HttpClient,
}

impl Connection {
    /// Sends a request and returns the answer once it is known to be a stream.
    async fn open(&self, request: ModelRequest) -> Result<(Reply, Translation), ModelFailure> {
        // Taken first: a request that waits should not wait as bytes as well.
        let place = Place::take().await;
        let body = serde_json::to_vec(&body(&request, &self.config)).map_err(|error| {
            invalid(format!("the request cannot be written as JSON: {error}; nothing was sent"))
        })?;
        let translation = Translation::new(&request, body.len());
        // The body is written; the conversation need not stay alive while the model thinks.
        drop(request);
        let (headers, timeout) = (self.headers()?, self.config.request_timeout);
        let path = ["chat", "completions"];
        let reply = self.http.post(place, &path, headers, body, timeout).await?;
        if !reply.status().is_success() {
            return Err(read_refusal(reply, self.config.idle_timeout).await);
        }
        if reply.is_document() {
            let body = read_body(reply, self.config.idle_timeout).await;
            return Err(not_a_stream(&body));
        }
        Ok((reply, translation))
    }

    fn headers(&self) -> Result<HeaderMap, ModelFailure> {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/json"),
            ("accept", "text/event-stream"),
            // Compression would hold events back until its blocks are full.
            ("accept-encoding", "identity"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Some(key) = &self.config.api_key {
            let value = secret_value(&format!("Bearer {}", key.reveal()));
            headers.insert("authorization", value.ok_or_else(unusable_key)?);
        }
        for (name, value) in &self.config.custom_headers {
            let header = HeaderName::try_from(name.as_str()).ok().zip(secret_value(value));
            let (header, value) = header.ok_or_else(|| {
                invalid(format!("the custom header {name:?} is not valid; nothing was sent"))
            })?;
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// Removes every credential from a message that is about to be shown.
    fn clean(&self, mut failure: ModelFailure) -> ModelFailure {
        let headers = self.config.custom_headers.iter().map(|(_, value)| value.trim());
        let key = self.config.api_key.as_ref().map(Secret::reveal);
        failure.message = scrub(&failure.message, headers.chain(key));
        failure
    }
}

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text.trim()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn invalid(message: impl Into<String>) -> ModelFailure {
    ModelFailure::new(FailureKind::InvalidRequest, message)
}

fn unusable_key() -> ModelFailure {
    let message = "the configured API key holds characters that cannot be sent; nothing was sent, \
                   check where it comes from";
    ModelFailure::new(FailureKind::Authentication, message)
}
