//! Sessions: what a conversation is, and what is left of it.
//!
//! A session is one conversation with one model in one directory. It has an id, a UUID, and a
//! transcript that grows with every message. Everything else can be rebuilt from the transcript,
//! which is why a session can be resumed after a crash, on another day or on another machine.
//!
//! There are three ways to have one:
//!
//! | | for | ends |
//! |---|---|---|
//! | [`query`](crate::query) | one prompt, or a stream of them | by itself, when all is done |
//! | [`Client`](crate::Client) | a conversation that you steer | when you close or drop it |
//! | [`Session`](crate::Session) | the same, when you want to resume it later | likewise |
//!
//! They are one machine with three handles: a turn behaves the same in all of them.
//!
//! # What is kept
//!
//! Engines keep transcripts below `~/.claude/projects`, or below `CLAUDE_CONFIG_DIR`.
//! [`Sessions`](crate::sessions::Sessions) lists, reads, forks, renames, tags and deletes them, and
//! [`Options::no_session_persistence`](crate::Options::no_session_persistence) keeps nothing at all.
//! With [`Options::session_store`](crate::Options::session_store) a copy of every entry goes to a
//! store of yours, from which another machine can resume:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use std::sync::Arc;
//! use tillerman::sessions::{MemoryStore, Sessions};
//! use tillerman::{Options, prompt};
//!
//! # let home = tempfile::tempdir().unwrap();
//! let store = Arc::new(MemoryStore::new());
//! let options = Options::new().model("rehearsal").cwd(home.path()).session_store(store.clone());
//! # let options = options.env("CLAUDE_CONFIG_DIR", home.path().to_string_lossy());
//! let first = prompt("list files", options.clone()).await?;
//! prompt("list files again", options.resume(first.session_id().as_str())).await?;
//!
//! let sessions = Sessions::new(store, home.path());
//! assert_eq!(sessions.list().await?.len(), 1);
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # What is shared
//!
//! Nothing. Sessions in one process have their own directory, variables and credentials, and none
//! of them can see another one's.
