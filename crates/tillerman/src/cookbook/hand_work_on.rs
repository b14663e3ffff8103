//! Defines agents that others can hand work to.
//!
//! A subagent has a prompt of its own and the tools you give it; without `tools` it has those of
//! its parent, tools of this process included.
//!
//! ```
//! use futures_util::StreamExt as _;
//! use tillerman::options::AgentDefinition;
//! use tillerman::{Options, query};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let lister = AgentDefinition {
//!         description: "lists files".to_owned(),
//!         prompt: "You list files and nothing else.".to_owned(),
//!         tools: Some(vec!["Glob".to_owned()]),
//!         ..AgentDefinition::default()
//!     };
//!     let options = Options::new()
//!         .model("rehearsal")
//!         .no_session_persistence()
//!         .agent("lister", lister)
//!         .forward_subagent_text();
//!     let mut messages = query("delegate: list files", options);
//!     while let Some(message) = messages.next().await {
//!         let message = message?;
//!         let who = if message.parent_tool_use_id().is_some() { "agent" } else { "lead" };
//!         if let Some(text) = message.text() {
//!             println!("{who}: {text}");
//!         }
//!     }
//!     Ok(())
//! }
//! ```
