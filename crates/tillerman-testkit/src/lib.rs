//! A scripted Messages server for testing agents without a model and without the network.
//!
//! A test writes down what the model will say, points the agent at the server's address and looks
//! at what the agent sent:
//!
//! ```no_run
//! use serde_json::json;
//! use tillerman_testkit::{ScriptedServer, fault, response, script};
//!
//! # async fn example() {
//! let server = ScriptedServer::start(
//!     script()
//!         .reply(fault::status(529).retry_after(1))
//!         .reply(response().tool_call("Bash", json!({ "command": "ls" })))
//!         .reply(response().text("done")),
//! )
//! .await;
//!
//! // … run the agent with the base address `server.url()` …
//!
//! assert_eq!(server.request(2).tool_results().len(), 1);
//! server.verify();
//! # }
//! ```
//!
//! The server refuses requests that the real API would refuse, so a test cannot pass with a
//! conversation that would fail in production. Nothing here sleeps to synchronise: a [`Gate`]
//! holds a reply until the test opens it, and the waiting functions of [`ScriptedServer`] return
//! as soon as the thing they wait for has happened.

mod gate;
mod response;

pub mod fault;

mod reply;
mod script;

mod request;
mod server;

mod trace_collector;

mod context;
mod conversation;
mod deadline;
mod journal;
mod plan;
mod play;
mod prefix;
mod script_file;
mod validate;

pub use gate::Gate;
pub use journal::Outcome;
pub use reply::Reply;
pub use request::CapturedRequest;
pub use response::{Response, response};
pub use script::{Script, ScriptBuilder, script};
pub use script_file::ReadScriptError;
pub use server::ScriptedServer;
pub use trace_collector::{CollectedPost, CollectedSpan, TraceCollector};
