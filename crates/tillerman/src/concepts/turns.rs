//! Turns: what happens between a prompt and its result.
//!
//! A *round* goes from a prompt to its [`Message::Result`](crate::Message::Result). It consists of
//! *turns*: a request to the model, and the calls that its response makes. A response without calls
//! ends the round, unless a `Stop` hook wants it to go on.
//!
//! What you read of a round, in order:
//!
//! 1. `system/init` says what it runs with: tools, model, mode, servers.
//! 2. [`Message::Assistant`](crate::Message::Assistant), one for each block of a response: text,
//!    reasoning or a call. With `include_partial_messages` the pieces come before them.
//! 3. [`Message::User`](crate::Message::User), one for the outcome of each call, in the order in
//!    which they end.
//! 4. The result, with what it cost.
//!
//! # The result is not the end
//!
//! News may follow a result, and so may further results: an agent that works in the background
//! reports when it is done, and the session takes up what it says. So read to the end of the
//! stream. A [`query`](crate::query) ends when its prompts are answered and nothing works for it any
//! more; its input stays open until then, so that permission questions of agents in the background
//! are answered too.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use futures_util::StreamExt as _;
//! use tillerman::{Message, Options, query};
//!
//! # let home = tempfile::tempdir().unwrap();
//! let options = Options::new().model("rehearsal").cwd(home.path()).no_session_persistence();
//! let mut messages = query("list files", options);
//! let mut results = 0;
//! while let Some(message) = messages.next().await {
//!     if let Message::Result(result) = message? {
//!         results += 1;
//!         assert!(!result.is_error);
//!     }
//! }
//! assert_eq!(results, 1);
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Saying more
//!
//! What is sent while a round is under way is taken up as soon as it can be: between two turns, or
//! in a round of its own. [`Controls`](crate::Controls) steers from any task meanwhile: interrupt,
//! another model, another mode.
