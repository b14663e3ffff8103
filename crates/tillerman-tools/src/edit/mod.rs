//! The tool that changes parts of files.

mod substitute;
mod tool;

pub(crate) use tool::Edit;
