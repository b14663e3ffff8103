//! What somebody has to say before the Messages API can be asked.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::http_client::public_url;
use crate::secret::Secret;

/// How Tillerman names itself to servers.
pub const USER_AGENT: &str = concat!("tillerman/", env!("CARGO_PKG_VERSION"));

/// How to reach the Messages API. There are no defaults: the program's entry point decides.
#[derive(Clone)]
pub struct AnthropicConfig {
    /// The server, without `/v1/messages`.
    pub base_url: String,
    /// Who is asking.
    pub credential: Credential,
    /// Headers added to every request; they replace headers of the same name, except that
    /// `anthropic-beta` adds to the others.
    pub custom_headers: Vec<(String, String)>,
    /// Beta features asked for in every request, before those of the request itself.
    pub betas: Vec<String>,
    /// Fields added to every request, before those of the request itself.
    pub extra_body: Map<String, Value>,
    /// The user agent, usually [`USER_AGENT`].
    pub user_agent: String,
    /// Whether and how long the provider keeps the prompt's prefix.
    pub cache: CachePolicy,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long the head of an answer may take.
    pub request_timeout: Duration,
    /// How long a stream may stay silent; pings count as life.
    pub idle_timeout: Duration,
}

/// Who is asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A key of the provider, sent as `x-api-key`.
    ApiKey(Secret),
    /// A token of the provider or a gateway, sent as `authorization: Bearer`.
    Bearer(Secret),
}

/// Whether and how long the provider keeps the prompt's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// Nothing is kept.
    Off,
    /// Five minutes after its last use.
    FiveMinutes,
    /// An hour after its last use, at a higher price for writing.
    OneHour,
}

impl Credential {
    /// The secret inside.
    #[must_use]
    pub const fn secret(&self) -> &Secret {
        match self {
            Self::ApiKey(secret) | Self::Bearer(secret) => secret,
        }
    }
}

impl fmt::Debug for AnthropicConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Gateways take credentials in headers of their own and in the URL.
        let header_names: Vec<&str> =
            self.custom_headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("AnthropicConfig")
            .field("base_url", &public_url(&self.base_url))
            .field("credential", &self.credential)
            .field("custom_headers", &header_names)
            .field("betas", &self.betas)
            .field("extra_body", &self.extra_body)
            .field("user_agent", &self.user_agent)
            .field("cache", &self.cache)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .finish()
    }
}
