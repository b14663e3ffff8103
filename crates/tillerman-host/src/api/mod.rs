//! The HTTP side of the host: who may come in, what may be asked, how it is answered.

mod access_log;
mod error;
mod gate;
mod guard;

mod endpoint;
mod openapi;
mod routes;

mod approvals;
mod attachments;
mod completions;
mod conversations;
mod documents;
mod events;
mod export;
mod info;
mod messages;
mod operations;
mod sessions;
mod usage;

mod page;
mod sdk;
mod sign_in;
mod socket;

pub(crate) use conversations::shown;
pub(crate) use gate::Gate;
pub(crate) use openapi::describe;
pub(crate) use routes::{ApiState, router};
