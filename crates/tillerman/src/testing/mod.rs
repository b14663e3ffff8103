//! For the tests of your own agents: a scripted model, and transcripts to compare with.
//!
//! [`ScriptedServer`] plays what a test has written down in place of a model, and keeps what it was
//! told; [`concepts::testing`](crate::concepts::testing) shows how. [`transcript`] turns messages
//! into lines that people can read, and [`check_golden`] compares them with a file:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use futures_util::TryStreamExt as _;
//! use serde_json::json;
//! use tillerman::testing::{ScriptedServer, response, script, transcript};
//! use tillerman::{Message, Options, query};
//!
//! let server = ScriptedServer::start(
//!     script()
//!         .reply(response().text("Let me see.").tool_call("Glob", json!({"pattern": "*.nothing"})))
//!         .reply(response().text("There is nothing.")),
//! )
//! .await;
//! let options = Options::new()
//!     .model("claude-sonnet-4-5")
//!     .no_session_persistence()
//!     .env("ANTHROPIC_BASE_URL", server.url())
//!     .env("ANTHROPIC_API_KEY", "not-a-key");
//! let messages: Vec<Message> = query("what is there?", options).try_collect().await?;
//! assert_eq!(
//!     transcript(&messages),
//!     "agent: Let me see.\n\
//!      calls Glob {\"pattern\":\"*.nothing\"}\n\
//!      Glob: No files found\n\
//!      agent: There is nothing.\n\
//!      result success: There is nothing.\n"
//! );
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```

mod golden;

pub use golden::{check_golden, transcript};

pub use tillerman_testkit::{
    CapturedRequest, Gate, Outcome, ReadScriptError, Reply, Response, Script, ScriptBuilder,
    ScriptedServer, fault, response, script,
};
