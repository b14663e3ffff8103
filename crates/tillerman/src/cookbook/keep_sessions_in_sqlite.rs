//! Keeps conversations in a database.
//!
//! With the feature `sqlite`, transcripts are copied into one file, and another machine that has it
//! can go on.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     use std::sync::Arc;
//!     use tillerman::sessions::{Sessions, SqliteStore};
//!     use tillerman::{Options, prompt};
//!
//!     let folder = tempfile::tempdir()?;
//!     let store = Arc::new(SqliteStore::open(folder.path().join("sessions.db"))?);
//!     let options = Options::new()
//!         .model("rehearsal")
//!         .cwd(folder.path())
//!         .env("CLAUDE_CONFIG_DIR", folder.path().join("config").to_string_lossy())
//!         .session_store(store.clone());
//!     let answer = prompt("list files", options.clone()).await?;
//!     prompt("list files again", options.resume(answer.session_id().as_str())).await?;
//!
//!     let sessions = Sessions::new(store, folder.path());
//!     let kept = sessions.list().await?;
//!     assert_eq!(kept.len(), 1);
//!     println!("{}", kept[0].summary);
//!     Ok(())
//! }
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! ```
