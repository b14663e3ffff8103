//! The ports through which agents get tools of their own and leave transcripts behind.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tillerman_protocol::transcript::Entry;

use crate::tool::Tool;
use crate::transcript::Transcript;

/// Makes tools for an agent, which share no memory with those of others.
pub trait Toolbox: Send + Sync + std::fmt::Debug {
    /// A fresh set of tools, for a teammate of this name if it has one. Tools that are the same
    /// for everybody need not be among them.
    fn tools(&self, teammate: Option<&str>) -> Vec<Arc<dyn Tool>>;

    /// The same for an agent that works in a directory of its own.
    fn tools_in(&self, directory: &Path, teammate: Option<&str>) -> Vec<Arc<dyn Tool>>;
}

/// Keeps the transcripts of the agents of one session.
pub trait AgentFiles: Send + Sync + std::fmt::Debug {
    /// Prepares the transcript of a new agent and keeps a note about the agent beside it.
    fn begin(&self, agent: &str, note: &Value) -> Box<dyn Transcript>;

    /// Opens the transcript of an agent that goes on.
    ///
    /// # Errors
    /// A text for people that says why it cannot go on.
    fn reopen(&self, agent: &str) -> Result<Reopened, String>;
}

/// The transcript of an agent that goes on.
#[derive(Debug)]
pub struct Reopened {
    /// Where further entries go.
    pub transcript: Box<dyn Transcript>,
    /// What it holds already.
    pub entries: Vec<Entry>,
    /// The note that was kept about the agent.
    pub note: Value,
}
