//! The tool that finds files by content, on ripgrep's engine.

mod collect;
mod params;
mod report;
mod run;
mod tool;

pub(crate) use tool::Grep;
