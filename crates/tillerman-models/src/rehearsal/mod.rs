//! The rehearsal model: offline, deterministic, and honest that it is no language model.
//!
//! A prompt becomes tokens, tokens become wishes, wishes become planned calls of the tools the
//! request offers, and what the calls brought back becomes the answer. Nothing is remembered
//! between requests: everything is read from the conversation.

mod token;

mod heads;
mod readings;
mod understand;
mod wish;

mod conversation;
mod plan;

mod answer;
mod digest;
mod script;

mod model;
mod sample;

pub use model::{Rehearsal, RehearsalNote};
