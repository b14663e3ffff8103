//! The tools that change parts of files.

mod multiple;
mod replacement;
mod subject;
mod substitute;
mod tool;

pub(crate) use multiple::MultiEdit;
pub(crate) use tool::Edit;
