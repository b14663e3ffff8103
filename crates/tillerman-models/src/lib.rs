//! Model providers: Anthropic Messages, OpenAI-compatible chat, and the offline rehearsal model.

pub mod secret;
pub mod sse;

pub mod connections;
pub mod event_reader;
pub mod http_client;
pub mod http_failure;
pub mod place;
pub mod reply;

pub mod anthropic;
pub mod estimate;
pub mod openai;
pub mod rehearsal;

pub mod abilities;
pub mod catalog;
