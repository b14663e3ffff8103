//! Sends requests to the Messages API and reports what comes back.

use std::sync::Arc;

use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::catalog::LARGE_WINDOW_ENDING;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};
use tillerman_protocol::stream::StreamEvent;

use super::body::{Body, Purpose};
use super::config::{AnthropicConfig, Credential};
use super::events::translate;
use crate::connections::Connections;
use crate::event_reader::{EventReader, cut, stream_failure};
use crate::http_client::HttpClient;
use crate::http_failure::{ErrorReport, read_body, read_refusal};
use crate::place::Place;
use crate::reply::Reply;
use crate::secret::scrub;

const API_VERSION: &str = "2023-06-01";
const BETA_HEADER: &str = "anthropic-beta";
const LARGE_WINDOW_BETA: &str = "context-1m-2025-08-07";

/// The Messages API. Every call is one attempt.
#[derive(Clone, Debug)]
pub struct Anthropic {
    connection: Arc<Connection>,
}

impl Anthropic {
    /// A provider with connections of its own; nothing is read, built or sent before the first
    /// request.
    #[must_use]
    pub fn new(config: AnthropicConfig) -> Self {
        Self::sharing(config, Connections::default())
    }

    /// A provider that shares connections with others.
    #[must_use]
    pub fn sharing(config: AnthropicConfig, connections: Connections) -> Self {
        let (agent, timeout) = (&config.user_agent, config.connect_timeout);
        let http = HttpClient::new(&config.base_url, agent, timeout, connections);
        Self { connection: Arc::new(Connection { config, http }) }
    }
}

impl Model for Anthropic {
    fn respond(&self, request: ModelRequest) -> EventStream {
        let connection = Arc::clone(&self.connection);
        Box::pin(stream::unfold(Phase::Sending(connection, Box::new(request)), Phase::advance))
    }

    fn count_tokens(&self, request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        let connection = Arc::clone(&self.connection);
        Box::pin(async move {
            connection.count(&request).await.map_err(|failure| connection.clean(failure))
        })
    }
}

/// Where a streamed answer stands.
enum Phase {
    Sending(Arc<Connection>, Box<ModelRequest>),
    Reading(Arc<Connection>, EventReader),
    Ended,
}

impl Phase {
    async fn advance(self) -> Option<(ModelEvent, Self)> {
        match self {
            Self::Sending(connection, request) => Some(Self::send(connection, request).await),
            Self::Reading(connection, reader) => Some(Self::read(connection, reader).await),
            Self::Ended => None,
        }
    }

    async fn send(connection: Arc<Connection>, request: Box<ModelRequest>) -> (ModelEvent, Self) {
        match connection.open(*request).await {
            Ok(reply) => {
                let request_id = reply.header("request-id").map(str::to_owned);
                let reader = EventReader::of_reply(reply, connection.config.idle_timeout);
                (ModelEvent::Accepted { request_id }, Self::Reading(connection, reader))
            }
            Err(failure) => (ModelEvent::Failed(connection.clean(failure)), Self::Ended),
        }
    }

    async fn read(connection: Arc<Connection>, mut reader: EventReader) -> (ModelEvent, Self) {
        let event = loop {
            match reader.next().await {
                Ok(Some(event)) => match translate(&event) {
                    Some(event) => break event,
                    None => continue,
                },
                Ok(None) => break ModelEvent::Failed(cut()),
                Err(failure) => break ModelEvent::Failed(failure),
            }
        };
        match event {
            ModelEvent::Failed(failure) => {
                (ModelEvent::Failed(connection.clean(failure)), Self::Ended)
            }
            ModelEvent::Stream(StreamEvent::MessageStop) => (event, Self::Ended),
            _ => (event, Self::Reading(connection, reader)),
        }
    }
}

#[derive(Debug)]
struct Connection {
    config: AnthropicConfig,
    http: HttpClient,
}

impl Connection {
    /// Sends a request and returns the answer once it is known to be a stream.
    async fn open(&self, request: ModelRequest) -> Result<Reply, ModelFailure> {
        // Taken first: a request that waits should not wait as bytes as well.
        let place = Place::take().await;
        let sending = self.post(&request, Purpose::Respond, place)?;
        // The body is written; the conversation need not stay alive while the model thinks.
        drop(request);
        let reply = sending.await?;
        if reply.is_document() {
            return Err(self.not_a_stream(reply).await);
        }
        Ok(reply)
    }

    async fn count(&self, request: &ModelRequest) -> Result<u64, ModelFailure> {
        let place = Place::take().await;
        let reply = self.post(request, Purpose::CountTokens, place)?.await?;
        let body = read_body(reply, self.config.request_timeout).await;
        serde_json::from_slice::<Value>(&body)
            .ok()
            .and_then(|answer| answer.get("input_tokens").and_then(Value::as_u64))
            .ok_or_else(|| {
                let message = "the server's token count cannot be read; the count is unknown";
                ModelFailure::new(FailureKind::Server, message)
            })
    }

    /// Writes a request at once and returns the future that sends it.
    fn post(
        &self,
        request: &ModelRequest,
        purpose: Purpose,
        place: Place,
    ) -> Result<impl Future<Output = Result<Reply, ModelFailure>> + use<'_>, ModelFailure> {
        let (extra_body, cache) = (&self.config.extra_body, self.config.cache);
        let body = serde_json::to_vec(&Body { request, extra_body, cache, purpose })
            .map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
        let headers = self.headers(request, purpose)?;
        Ok(async move {
            let timeout = self.config.request_timeout;
            let reply = self.http.post(place, purpose.path(), headers, body, timeout).await?;
            if reply.status().is_success() {
                Ok(reply)
            } else {
                Err(read_refusal(reply, self.config.idle_timeout).await)
            }
        })
    }

    async fn not_a_stream(&self, reply: Reply) -> ModelFailure {
        let body = read_body(reply, self.config.idle_timeout).await;
        let report = ErrorReport::parse(&body);
        if report.error_type.is_empty() || report.message.is_empty() {
            return stream_failure(
                "the server answered with a whole document instead of a stream of events; check \
                 that the base URL belongs to a Messages API",
            );
        }
        report.into_failure()
    }

    fn headers(&self, request: &ModelRequest, purpose: Purpose) -> Result<HeaderMap, ModelFailure> {
        let mut headers = HeaderMap::new();
        let accept = match purpose {
            Purpose::Respond => "text/event-stream",
            Purpose::CountTokens => "application/json",
        };
        for (name, value) in [
            ("content-type", "application/json"),
            ("accept", accept),
            // Compression would hold events back until its blocks are full.
            ("accept-encoding", "identity"),
            ("anthropic-version", API_VERSION),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let (name, value) = match &self.config.credential {
            Credential::ApiKey(key) => ("x-api-key", key.reveal().to_owned()),
            Credential::Bearer(token) => ("authorization", format!("Bearer {}", token.reveal())),
        };
        headers.insert(name, secret_value(&value).ok_or_else(unusable_credential)?);
        let mut betas: Vec<&str> = Vec::new();
        for (name, value) in &self.config.custom_headers {
            if name.eq_ignore_ascii_case(BETA_HEADER) {
                betas.extend(value.split(',').map(str::trim));
                continue;
            }
            let header = HeaderName::try_from(name.as_str()).ok().zip(secret_value(value));
            let (header, value) = header.ok_or_else(|| {
                invalid(format!("the custom header {name:?} is not valid; nothing was sent"))
            })?;
            headers.insert(header, value);
        }
        betas.extend(self.config.betas.iter().chain(&request.betas).map(String::as_str));
        if request.model.ends_with(LARGE_WINDOW_ENDING) {
            betas.push(LARGE_WINDOW_BETA);
        }
        if let Some(betas) = joined(&betas) {
            let value = HeaderValue::try_from(betas)
                .map_err(|_| invalid("a beta feature's name is not valid; nothing was sent"))?;
            headers.insert(BETA_HEADER, value);
        }
        Ok(headers)
    }

    /// Removes every credential from a message that is about to be shown.
    fn clean(&self, mut failure: ModelFailure) -> ModelFailure {
        let headers = self.config.custom_headers.iter().map(|(_, value)| value.trim());
        let secrets = headers.chain([self.config.credential.secret().reveal()]);
        failure.message = scrub(&failure.message, secrets);
        failure
    }
}

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text.trim()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The features in order, each once.
fn joined(betas: &[&str]) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for &beta in betas {
        if !beta.is_empty() && !distinct.contains(&beta) {
            distinct.push(beta);
        }
    }
    (!distinct.is_empty()).then(|| distinct.join(","))
}

fn invalid(message: impl Into<String>) -> ModelFailure {
    ModelFailure::new(FailureKind::InvalidRequest, message)
}

fn unusable_credential() -> ModelFailure {
    let message = "the configured API key or token holds characters that cannot be sent; nothing \
                   was sent, check where it comes from";
    ModelFailure::new(FailureKind::Authentication, message)
}
