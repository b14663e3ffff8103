//! The table of what is there and which test shows it: `docs/coverage.md` from `docs/coverage.tsv`.

mod rows;

mod page;

mod run;

#[cfg(test)]
mod tests;

pub(crate) use run::{PAGE, Purpose, SOURCE, generate, run};
