//! The page's TypeScript of the protocol, written from the Rust that defines it.

mod attributes;
mod read;

mod shape;
mod write;

mod run;

#[cfg(test)]
mod tests;

pub(crate) use run::{TARGET, generate, run};
