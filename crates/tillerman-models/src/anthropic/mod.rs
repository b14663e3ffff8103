//! The Anthropic Messages API: one streamed attempt per request.

mod config;

mod block;
mod body;

mod events;
mod provider;

pub use config::{AnthropicConfig, CachePolicy, Credential, USER_AGENT};
pub use provider::Anthropic;
