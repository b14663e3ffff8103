//! Errors: what can go wrong, and what to do then.
//!
//! There are two kinds of failure. What goes wrong for the *agent*, such as a command that fails or
//! a call that is denied, is data: the model reads it and goes on. What goes wrong for *you* is an
//! [`Error`](crate::Error), which has a [`kind`](crate::Error::kind) to branch on and a
//! [`retry`](crate::Error::retry) hint:
//!
//! | kind | when | again? |
//! |---|---|---|
//! | `NotFound` | the program or directory does not exist | after a change |
//! | `Connection` | the engine cannot be started or reached | after a pause |
//! | `Version` | the program is too old | after a change |
//! | `Process` | the process ended by itself; exit code and last words are in the error | no |
//! | `Decode` | a line is no frame; the stream goes on behind it | no |
//! | `Refused` | the engine refused a request | no |
//! | `Timeout` | an answer did not come | after a pause |
//! | `Closed`, `Cancelled` | the session is over | no |
//! | `InvalidOptions`, `Unsupported` | options contradict each other or the transport | after a change |
//! | `MaxTurns`, `MaxBudget`, `Deadline` | a limit was reached | after a change |
//! | `Api` | the provider failed; the status is in the error | depends on the status |
//! | `StructuredOutput` | no answer fits the schema or type | no |
//! | `Execution` | the round was interrupted or failed | no |
//! | `SessionNotFound`, `Store` | stored sessions | after a change, no |
//! | `Workspace`, `Tool` | a workspace or tool cannot be made | after a change |
//!
//! A failed round is a [`Message::Result`](crate::Message::Result) on the stream, since it still has
//! costs; [`Answer::of`](crate::Answer::of), [`Query::answer`](crate::Query::answer) and their like make
//! an error of it.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use std::time::Duration;
//! use tillerman::{Options, Retry, prompt};
//!
//! # let options = Options::new().model("rehearsal").no_session_persistence();
//! let mut pause = Duration::from_secs(1);
//! let answer = loop {
//!     match prompt("list files", options.clone()).await {
//!         Err(error) if error.retry() == Retry::AfterPause && pause.as_secs() < 60 => {
//!             tokio::time::sleep(pause).await;
//!             pause *= 2;
//!         }
//!         done => break done?,
//!     }
//! };
//! assert!(!answer.text.is_empty());
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
