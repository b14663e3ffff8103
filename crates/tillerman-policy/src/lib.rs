//! Permission verdicts as pure functions: facts in, verdict out.
//!
//! Nothing here touches a disk, a clock or the network: what only a disk can tell arrives as a
//! [`Disk`]. Modules are listed in reading order.

mod unreadable;
mod verdict;

mod policy;

mod judge;
mod judge_shell;

mod call;
mod concern;
mod matching;
mod rule;

mod confined;
mod programs;
mod shell_call;
mod shell_parts;
mod suggest;

mod critical;
mod guard;
mod protected;

mod glob;
mod hidden;
mod path_pattern;
mod place;

mod shell;

mod environment;

pub use call::Facts;
pub use environment::{ALLOWED_VARIABLES, child_environment, keep_variable};
pub use guard::{Guard, Guarded};
pub use place::{Disk, OtherNames, Unseen};
pub use policy::{Policy, tools_off_in};
pub use rule::{ListedRuleError, Rule, RuleError, split_rules};
pub use unreadable::Unreadable;
pub use verdict::{Before, Part, Ruling, Runs, Verdict, Written};
