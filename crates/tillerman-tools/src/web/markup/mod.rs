//! Turning HTML into Markdown in one pass.
//!
//! Pages come from strangers. A converter that builds a tree and walks it down overflows the stack
//! on a page of a few thousand nested elements, which would end every session of the process. This
//! one keeps no tree: its time grows with the page and its memory with the result.

mod entities;
mod markdown;
mod token;

pub(super) use markdown::to_markdown;
