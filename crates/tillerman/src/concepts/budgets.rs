//! Budgets: how to keep an agent from spending too much.
//!
//! | limit | counts | when it is reached |
//! |---|---|---|
//! | [`max_turns`](crate::Options::max_turns) | requests to the model | the round ends, `error_max_turns` |
//! | [`max_budget_usd`](crate::Options::max_budget_usd) | dollars of the session and its agents | the round ends, `error_max_budget_usd` |
//! | [`budget`](crate::Options::budget) | tokens or dollars of all sessions that share it | tools are denied; the next session does not start |
//! | [`deadline`](crate::Options::deadline) | time | tools are denied; the next session does not start |
//!
//! The first two are the engine's, and end the round. The others hold before each tool, with a
//! reason that the model reads, so that it can still say what it has found out.
//!
//! ```
//! # fn main() -> tillerman::Result<()> {
//! use std::time::Duration;
//! use tillerman::Options;
//! use tillerman::budget::{Budget, Deadline};
//!
//! let budget = Budget::tokens_and_dollars(500_000, 2.0)?;
//! let options = Options::new()
//!     .budget(&budget)
//!     .deadline(Deadline::after(Duration::from_secs(300)))
//!     .max_turns(50);
//! // … run as many sessions with these options as you like …
//! println!("{} tokens so far", budget.spent().tokens);
//! # drop(options);
//! # Ok(())
//! # }
//! ```
//!
//! A budget of nothing is an error, not a session that can do nothing.
