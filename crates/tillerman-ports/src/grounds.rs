//! The port to what agents have of their own on this machine: memory, working copies, servers.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::mcp::McpServers;
use crate::model::BoxFuture;

/// Gives agents what their definitions ask for beside tools.
///
/// Refusals are texts for people: the agent is then not started at all, since one without what its
/// definition asks for might do harm.
pub trait Grounds: Send + Sync + std::fmt::Debug {
    /// The memory of the agents of this name: `user`, `project` or `local`.
    ///
    /// # Errors
    /// Why it has none.
    fn memory(&self, agent: &str, scope: &str) -> Result<AgentMemory, String>;

    /// A working copy for the agent with this id; nothing is made yet.
    ///
    /// # Errors
    /// Why there can be none.
    fn working_copy(&self, agent_id: &str) -> Result<Arc<dyn WorkingCopy>, String>;

    /// Starts to connect to servers, by name, that live as long as whoever holds them.
    ///
    /// # Errors
    /// Why they cannot be had.
    fn servers(&self, servers: Vec<(String, Value)>) -> Result<Arc<dyn McpServers>, String>;
}

/// What an agent has noted for later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMemory {
    /// Where it keeps its notes; absolute, without links.
    pub directory: PathBuf,
    /// The beginning of its `MEMORY.md`; empty when there is none.
    pub notes: String,
}

/// A copy of the project in which an agent works alone.
pub trait WorkingCopy: Send + Sync + std::fmt::Debug {
    /// The directory the agent works in, which exists once the copy is made.
    fn directory(&self) -> PathBuf;

    /// The whole copy; the directory the agent works in may be deeper in it.
    fn root(&self) -> PathBuf;

    /// Makes the copy, or takes up one that an earlier run left.
    ///
    /// # Cancel safety
    /// Dropping the future may leave a copy that nobody works in.
    fn make(&self) -> BoxFuture<Result<(), String>>;

    /// Removes a copy in which nothing changed; otherwise says what stays, and where.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the copy where it is.
    fn leave(&self) -> BoxFuture<Option<String>>;
}

/// Has nothing to give.
#[derive(Clone, Copy, Debug)]
pub struct NoGrounds;

impl Grounds for NoGrounds {
    fn memory(&self, _agent: &str, _scope: &str) -> Result<AgentMemory, String> {
        Err("this session keeps no memory for agents".to_owned())
    }

    fn working_copy(&self, _agent_id: &str) -> Result<Arc<dyn WorkingCopy>, String> {
        Err("this session makes no working copies".to_owned())
    }

    fn servers(&self, _servers: Vec<(String, Value)>) -> Result<Arc<dyn McpServers>, String> {
        Err("this session starts no servers for agents".to_owned())
    }
}
