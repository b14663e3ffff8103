//! The SDK's contract suite, driving the official CLI in place of Tillerman.

mod verdict;

mod run;

#[cfg(test)]
mod tests;

pub(crate) use run::{Ran, run};
