//! The tools that find files by name and by content.

mod bounds;
mod glob;
mod grep;
mod place;

pub(crate) use glob::Glob;
pub(crate) use grep::Grep;
