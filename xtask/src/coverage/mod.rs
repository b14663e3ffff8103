//! The table of what is there and which test shows it: `docs/coverage.md` from `docs/coverage.tsv`.

mod page;
mod rows;

mod run;

pub(crate) use run::run;
