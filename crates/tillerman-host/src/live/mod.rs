//! Conversations at work: one task each, and a directory that knows them.

mod feed;
mod order;
mod shared;

mod directory;

mod run;
mod talk;

mod answers;
mod asking;
mod cards;
mod committing;
mod eliciting;
mod hearing;
mod model_meter;
mod queue;
mod reopening;
mod saying;
mod starting;
mod trouble;

pub(crate) use committing::{said, words};
pub(crate) use directory::Directory;
pub(crate) use feed::{Envelope, News};
pub(crate) use order::{Attached, Order, Refusal, RefusalKind};
pub(crate) use shared::{Now, Shared, new_id};
