//! Permission verdicts as pure functions: facts in, verdict out.
//!
//! Modules are listed in reading order.

mod rule;

mod shell;

mod policy;

mod environment;

pub use environment::keep_variable;
pub use policy::{Before, Facts, PathFact, Policy, Verdict};
pub use rule::{Rule, split_rules};
