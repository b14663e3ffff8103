//! The tool that shows files.

mod picture;
mod scan;
mod tool;

pub(crate) use tool::Read;
