//! The tools that reach the web.

mod address;
mod connection;
mod fetch;

mod document;
mod markup;

mod cache;
mod page;
mod side_request;

mod search;

pub(crate) use page::WebFetch;
pub(crate) use search::WebSearch;
