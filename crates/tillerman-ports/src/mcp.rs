//! The ports between a session and the MCP servers it uses.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::Content;
use tillerman_protocol::control::{ControlBody, McpRequest};
use tillerman_protocol::mcp::McpServerStatus;

use crate::model::BoxFuture;
use crate::tool::Tool;

/// The MCP servers of a session, which several sessions may share. Servers come and go while
/// sessions run; whoever shows them asks again after each change.
pub trait McpServers: Send + Sync + std::fmt::Debug {
    /// Names who answers questions of servers, and carries messages of in-process servers. The
    /// session that owns the servers calls this once, before anything else.
    fn attach(&self, host: Arc<dyn McpHost>);

    /// Adds servers that live in the host's process.
    fn add_in_process(&self, names: &[String]);

    /// Adds servers by name, as a definition writes them out; those that are there already stay.
    fn add(&self, servers: Vec<(String, Value)>);

    /// The tools of all connected servers, always in the same order.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// When tools are looked up instead of being offered from the start.
    fn deferral(&self) -> Deferral {
        Deferral::Never
    }

    /// The names of tools that are offered from the start in any case.
    fn always_offered(&self) -> HashSet<String> {
        HashSet::new()
    }

    /// The tool that answers questions about permission, where the host named one.
    fn approver(&self) -> Option<String> {
        None
    }

    /// What servers say about the use of their tools, by name, always in the same order.
    fn instructions(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Every server and its state, by name.
    fn status(&self) -> Vec<McpServerStatus>;

    /// The prompts of all connected servers, as commands.
    fn prompts(&self) -> Vec<McpPrompt>;

    /// Waits until something differs from what it was at `since`, and says which state holds now.
    /// The state before everything is zero.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn changed(&self, since: u64) -> BoxFuture<u64>;

    /// Waits until every server that the first prompt has to wait for is connected or has failed,
    /// or has had its time.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn ready(&self) -> BoxFuture<()>;

    /// Does what a host asks for and returns the body of the answer.
    ///
    /// # Cancel safety
    /// Dropping the future ends a call or a read; other requests may still take effect.
    fn carry_out(&self, request: McpRequest) -> BoxFuture<Result<Value, McpRefusal>>;

    /// Renders a prompt: `command` as [`McpPrompt::command`] names it, then what was typed after it.
    ///
    /// # Cancel safety
    /// Dropping the future ends the request.
    fn render(&self, command: String, typed: String) -> BoxFuture<Result<Content, McpRefusal>>;

    /// Ends every connection and every child process, and returns when they are gone.
    ///
    /// # Cancel safety
    /// Dropping the future kills what is left.
    fn shut_down(&self) -> BoxFuture<()>;
}

/// When tools of servers are looked up instead of being offered from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// They are offered from the start.
    #[default]
    Never,
    /// They are looked up when together they take more than so many percent of the window.
    Beyond(u8),
    /// They are looked up however few they are.
    Always,
}

/// Whoever hosts the session, as servers see it.
pub trait McpHost: Send + Sync + std::fmt::Debug {
    /// Asks the host something and waits for the answer's body.
    ///
    /// # Errors
    /// A text for people, when the host cannot be reached or answered with an error.
    ///
    /// # Cancel safety
    /// Dropping the future tells the host that the answer is no longer wanted.
    fn ask(&self, request: ControlBody) -> BoxFuture<Result<Value, HostFailure>>;

    /// Passes on how far a call has come.
    fn progressed(&self, progress: CallProgress);

    /// Passes on that a person is done with a page that a server had them open.
    ///
    /// # Cancel safety
    /// Dropping the future passes on nothing.
    fn elicitation_completed(&self, server: &str, elicitation_id: &str) -> BoxFuture<()>;
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool, by the name the model uses.
    pub tool_name: String,
    /// Seconds since it started.
    pub elapsed_seconds: f64,
    /// How much is done, as the server counts.
    pub progress: f64,
    /// How much there is to do, where the server knows.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// A prompt that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPrompt {
    /// The name it is called by, without the slash.
    pub command: String,
    /// What it is for.
    pub description: String,
    /// The names of its arguments, in order.
    pub arguments: Vec<String>,
}

/// Why a request about servers was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpRefusal(pub String);

/// Why the host did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFailure {
    /// Nobody is there to answer.
    #[error("the host is gone")]
    Gone,
    /// The host answered with an error.
    #[error("{0}")]
    Refused(String),
}
