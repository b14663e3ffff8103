//! Rules of the house style that no compiler checks, each in a file of its own.

mod manifest;
mod run;
mod tree;

mod cited;
mod edges;
mod generated;
mod lints;
mod names;
mod registered;
mod size;
mod unused;
mod wording;

#[cfg(test)]
mod tests;

pub(crate) use run::run;
pub(crate) use tree::Tree;
