//! The tool that searches the web.

mod endpoint;
mod provider;
mod results;
mod tool;

pub(crate) use tool::WebSearch;
