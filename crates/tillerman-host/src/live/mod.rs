//! Conversations at work: one task each, and a directory that knows them.

mod feed;
mod order;
mod shared;

mod directory;

mod run;
mod talk;

mod asking;
mod cards;
mod committing;
mod hearing;
mod model_meter;
mod saying;
mod starting;
mod trouble;

pub(crate) use committing::{said, words};
pub(crate) use directory::Directory;
pub(crate) use feed::{Envelope, News};
pub(crate) use order::{Attached, Order, Refusal, RefusalKind};
pub(crate) use shared::{Now, Shared, new_id};
