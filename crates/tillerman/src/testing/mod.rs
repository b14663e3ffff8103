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
//!         .reply(response().text("Let me see.").tool_call("Bash", json!({"command": "echo hi"})))
//!         .reply(response().text("It said hi.")),
//! )
//! .await;
//! let options = Options::new()
//!     .model("claude-sonnet-4-5")
//!     .no_session_persistence()
//!     .allow_tool("Bash(echo *)")
//!     .env("ANTHROPIC_BASE_URL", server.url())
//!     .env("ANTHROPIC_API_KEY", "not-a-key");
//! let messages: Vec<Message> = query("say hi", options).try_collect().await?;
//! assert_eq!(
//!     transcript(&messages),
//!     "agent: Let me see.\n\
//!      calls Bash {\"command\":\"echo hi\"}\n\
//!      Bash: hi\n\
//!      agent: It said hi.\n\
//!      result success: It said hi.\n"
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
