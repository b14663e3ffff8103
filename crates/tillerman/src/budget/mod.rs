//! Deadlines and budgets that hold before each tool.
//!
//! Both are checked when a session is opened, which fails with
//! [`ErrorKind::Deadline`](crate::ErrorKind::Deadline) or
//! [`ErrorKind::MaxBudget`](crate::ErrorKind::MaxBudget), and before each tool, which is denied
//! with a reason that the model sees, so that it can still say what it has found out.

mod deadline;
mod tokens;

pub use deadline::Deadline;
pub(crate) use tokens::Meter;
pub use tokens::{Budget, Spent};
