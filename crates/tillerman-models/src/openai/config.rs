//! What a connection to an OpenAI-compatible server needs to know.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::http_client::public_url;
use crate::secret::Secret;

/// A connection to an OpenAI-compatible server. There are no defaults: the program's entry point
/// decides.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// The server, with or without `/chat/completions`; a bare host means its `/v1`.
    pub base_url: String,
    /// The key, sent as `authorization: Bearer`; local servers need none.
    pub api_key: Option<Secret>,
    /// Headers added to every request; they replace headers of the same name.
    pub custom_headers: Vec<(String, String)>,
    /// Fields added to every request, before those of the request itself.
    pub extra_body: Map<String, Value>,
    /// The most tokens to ask for, whatever a request allows; for servers with small windows.
    pub max_output_tokens: Option<u64>,
    /// Whose names the fields of a request have.
    pub dialect: Dialect,
    /// The user agent.
    pub user_agent: String,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long the head of an answer may take.
    pub request_timeout: Duration,
    /// How long a stream may stay silent.
    pub idle_timeout: Duration,
}

/// Whose names the fields of a request have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// What every compatible server understands: the limit is `max_tokens`.
    Compatible,
    /// OpenAI's own: the limit is `max_completion_tokens`, effort is `reasoning_effort`.
    OpenAi,
}

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Gateways take credentials in headers of their own and in the URL.
        let header_names: Vec<&str> =
            self.custom_headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("OpenAiConfig")
            .field("base_url", &public_url(&self.base_url))
            .field("api_key", &self.api_key)
            .field("custom_headers", &header_names)
            .field("extra_body", &self.extra_body)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("dialect", &self.dialect)
            .field("user_agent", &self.user_agent)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .finish()
    }
}
