//! Forms of MCP servers: read from the schema they send, and answers checked against them.

mod check;
mod read;

pub(crate) use check::{FieldErrors, check};
pub(crate) use read::read;
