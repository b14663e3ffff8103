//! What a session task is started with.

use std::sync::Arc;

use serde_json::{Map, Value};
use tillerman_engine::{Restored, SessionConfig};
use tillerman_policy::Policy;
use tillerman_ports::{
    Checkpoints, Clock, Library, LiveSettings, McpServers, Model, Observer, PermissionKeeper, Tool,
    Transcript,
};
use tillerman_protocol::model::SystemBlock;
use tillerman_protocol::transcript::Entry;
use tokio_util::sync::CancellationToken;

use crate::agents::AgentSetup;
use crate::hook_setup::HookSetup;
use crate::redact::Secrets;

/// The ports through which a session reaches the world.
#[derive(Debug)]
pub struct Ports {
    /// Answers requests.
    pub model: Arc<dyn Model>,
    /// The tools, in the order in which the model is told of them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Keeps entries.
    pub transcript: Box<dyn Transcript>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Keeps the state of files; nothing when that is off.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    /// Keeps permission updates beyond the session.
    pub keeper: Arc<dyn PermissionKeeper>,
    /// The texts that files add to the session; nothing when there are none.
    pub library: Option<Arc<dyn Library>>,
}

/// The parts of a system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// What the agent is and how it works; empty when the host wants none.
    pub base: String,
    /// What the host adds.
    pub append: Option<String>,
    /// What memory files say. It has a block of its own, which compaction never touches.
    pub memory: String,
    /// Where the session runs.
    pub environment: String,
}

impl SystemPrompt {
    /// The prompt as blocks, most stable part first.
    #[must_use]
    pub fn blocks(&self) -> Vec<SystemBlock> {
        let stable: Vec<&str> = [Some(self.base.as_str()), self.append.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty())
            .collect();
        [stable.join("\n\n"), self.memory.clone(), self.environment.clone()]
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| SystemBlock { text })
            .collect()
    }
}

/// Everything a session task is started with.
#[derive(Debug)]
pub struct SessionSetup {
    /// The engine's part.
    pub engine: SessionConfig,
    /// What an earlier run left.
    pub restored: Restored,
    /// Entries of a forked session, to be stored before the first new one.
    pub copied: Vec<Entry>,
    /// What the system prompt is made of, for hosts that choose another while running.
    pub prompt: SystemPrompt,
    /// Permission rules and working directories.
    pub policy: Policy,
    /// Whether `bypassPermissions` may be switched to while running.
    pub may_bypass: bool,
    /// The ports.
    pub ports: Ports,
    /// Hooks that are written down.
    pub hooks: HookSetup,
    /// Whether the host wants a copy of every transcript entry.
    pub mirror: bool,
    /// What `initialize` is answered with, beside what changes while running.
    pub greeting: Map<String, Value>,
    /// The settings, watched while the session runs; a plain value is never different.
    pub settings: Box<dyn LiveSettings>,
    /// The MCP servers; nothing when there are none and never will be.
    pub mcp: Option<Arc<dyn McpServers>>,
    /// Credentials that must not reach a transcript, a frame or a model.
    pub secrets: Secrets,
    /// How often a model may try again to deliver structured output.
    pub output_retries: u32,
    /// Fires when the process is to end at once.
    pub shutdown: CancellationToken,
    /// What agents are started with; nothing when there are none.
    pub agents: Option<AgentSetup>,
    /// Whoever watches the session; usually nobody does.
    pub observer: Option<Box<dyn Observer>>,
}
