//! What a model is asked and what it reports, whoever the provider is.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::content::Message;
use crate::stream::StreamEvent;
use crate::tool::ToolSpec;

/// Everything a model is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The model id.
    pub model: String,
    /// The system prompt, most stable part first.
    pub system: Vec<SystemBlock>,
    /// The conversation; consecutive requests of a session extend the same prefix.
    pub messages: Vec<Arc<Message>>,
    /// The tools, in an order that does not change within a session.
    pub tools: Arc<[ToolSpec]>,
    /// Tokens it may generate at most.
    pub max_tokens: u64,
    /// How much it may think.
    pub thinking: Thinking,
    /// How hard it should try: `low`, `medium`, `high`, `xhigh` or `max`.
    pub effort: Option<String>,
    /// Beta features to ask for.
    pub betas: Vec<String>,
    /// The session, for providers that route by it.
    pub session: String,
    /// Fields to add to the request as they are.
    pub extra_body: Map<String, Value>,
}

/// One block of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemBlock {
    /// The text.
    pub text: String,
}

/// How much a model may think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the provider's default has it.
    #[default]
    Unset,
    /// As much as it sees fit.
    Adaptive,
    /// Up to this many tokens.
    Budget(u32),
    /// Not at all.
    Disabled,
}

/// What a model reports while it answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The provider accepted the request under this id.
    Accepted {
        /// The provider's request id.
        request_id: Option<String>,
    },
    /// A piece of the response.
    Stream(StreamEvent),
    /// The attempt failed; nothing follows.
    Failed(ModelFailure),
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The HTTP status, if one was received.
    pub status: Option<u16>,
    /// What happened, for people.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after_ms: Option<u64>,
    /// What the provider said about repeating the request.
    pub should_retry: Option<bool>,
}

/// Kinds of failure, as far as anybody acts differently on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No credentials, or refused ones (401, 403).
    Authentication,
    /// The account cannot pay (402).
    Billing,
    /// Too many requests (429).
    RateLimit,
    /// The provider is overloaded (529).
    Overloaded,
    /// The request itself is wrong (400, 413, …).
    InvalidRequest,
    /// The request does not fit into the model's window.
    TooLong,
    /// The model does not exist or may not be used (404).
    ModelUnavailable,
    /// The provider failed (5xx).
    Server,
    /// No connection: refused, reset, name not found, timed out.
    Connection,
    /// TLS failed; never repeated without it.
    Tls,
    /// The stream was cut, fell silent or made no sense.
    Stream,
}

impl FailureKind {
    /// The name in frames.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication_failed",
            Self::Billing => "billing_error",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::InvalidRequest | Self::TooLong | Self::ModelUnavailable => "invalid_request",
            Self::Server | Self::Stream => "server_error",
            Self::Connection | Self::Tls => "unknown",
        }
    }

    /// Whether the same request may succeed a little later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Overloaded | Self::Server | Self::Connection | Self::Stream
        )
    }
}

impl ModelFailure {
    /// A failure with nothing but a kind and a message.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let (status, retry_after_ms, should_retry) = (None, None, None);
        Self { kind, status, message: message.into(), retry_after_ms, should_retry }
    }
}
