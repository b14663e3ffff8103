//! Measures the release build against its budgets and, where it is found, the official CLI.

mod options;
mod run;

mod arena;
mod crowd;
mod measure;
mod session;

mod memory;

mod report;
mod statistics;

#[cfg(test)]
mod tests;

pub(crate) use arena::find_official;
pub(crate) use options::Options;
pub(crate) use run::run;
