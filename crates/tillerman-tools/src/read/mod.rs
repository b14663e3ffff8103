//! The tool that shows files.

mod pdf;
pub(crate) mod picture;
mod scan;
mod tool;

pub(crate) use tool::Read;
