//! The tool that watches what a command prints, line by line.

mod feed;
mod over;
mod tool;
mod watch;

pub(crate) use tool::Monitor;
