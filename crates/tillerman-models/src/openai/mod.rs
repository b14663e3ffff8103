//! OpenAI-compatible chat, as OpenAI, Ollama, vLLM and llama.cpp serve it: one streamed attempt per
//! request.

mod choice;
mod config;

mod body;
mod conversation;

mod blocks;
mod calls;
mod chunk;
mod translation;

mod failure;
mod provider;

pub use choice::{OLLAMA_BASE_URL, OPENAI_BASE_URL, ProviderKind, provider_for};
pub use config::{Dialect, OpenAiConfig};
pub use provider::OpenAiCompatible;
