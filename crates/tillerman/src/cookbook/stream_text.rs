//! Shows an answer as it is written.
//!
//! Pieces of text arrive as events when `include_partial_messages` is on; `text_delta` picks them
//! out.
//!
//! ```
//! use std::io::Write as _;
//! use futures_util::StreamExt as _;
//! use tillerman::{Options, query};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let options = Options::new()
//!         .model("rehearsal")
//!         .no_session_persistence()
//!         .include_partial_messages();
//!     let mut messages = query("list files", options);
//!     while let Some(message) = messages.next().await {
//!         if let Some(piece) = message?.text_delta() {
//!             print!("{piece}");
//!             let _ = std::io::stdout().flush();
//!         }
//!     }
//!     println!();
//!     Ok(())
//! }
//! ```
