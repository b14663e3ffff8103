//! Testing: how to know that your agent does what you think.
//!
//! Three ways, none of which needs a key or a network:
//!
//! - Your tools and callbacks are functions; call them. [`Tool::call`](crate::tools::Tool::call) calls a
//!   tool as an agent would, schema and all.
//! - The model `rehearsal` turns plain requests such as "list files" or "run `ls`" into real calls.
//!   It is good for trying things out, and for examples.
//! - The feature `testing` has a scripted server. A test writes down what the model will say and
//!   looks at what it was told:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use serde_json::json;
//! use tillerman::testing::{ScriptedServer, response, script};
//! use tillerman::{Options, Permission, prompt};
//!
//! let server = ScriptedServer::start(
//!     script()
//!         .reply(response().tool_call("Bash", json!({"command": "rm -rf build"})))
//!         .reply(response().text("I may not.")),
//! )
//! .await;
//! let options = Options::new()
//!     .model("claude-sonnet-4-5")
//!     .no_session_persistence()
//!     .env("ANTHROPIC_BASE_URL", server.url())
//!     .env("ANTHROPIC_API_KEY", "not-a-key")
//!     .can_use_tool(async |_| Permission::deny("never"));
//!
//! let answer = prompt("tidy up", options).await?;
//! assert_eq!(answer.result.permission_denials.len(), 1);
//! assert!(server.request(1).tool_result_texts()[0].contains("never"));
//! server.verify();
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
//!
//! The server refuses what the real provider would refuse, can hold replies at a gate, break
//! connections and be overloaded, and checks that the prompt cache would have worked.
//! A store of your own proves itself with
//! [`check_session_store`](crate::sessions::check_session_store).
