//! Runs many sessions under one budget.
//!
//! Clones of options share the budget. When it is used up, tools are denied and the next session
//! does not start.
//!
//! ```
//! use futures_util::StreamExt as _;
//! use tillerman::budget::Budget;
//! use tillerman::{ErrorKind, Options, prompt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let budget = Budget::tokens(1_000_000)?;
//!     let options =
//!         Options::new().model("rehearsal").no_session_persistence().budget(&budget).max_turns(10);
//!     let mut answers = futures_util::stream::iter(0..6)
//!         .map(|number| prompt(format!("list files ({number})"), options.clone()))
//!         .buffer_unordered(3);
//!     while let Some(answer) = answers.next().await {
//!         match answer {
//!             Ok(answer) => println!("{}", answer.text),
//!             Err(error) if error.kind() == ErrorKind::MaxBudget => break,
//!             Err(error) => return Err(error),
//!         }
//!     }
//!     println!("{} tokens", budget.spent().tokens);
//!     Ok(())
//! }
//! ```
