//! What a session needs in order to start agents.

use std::sync::Arc;

use tillerman_ports::{AgentFiles, Grounds, Toolbox};
use tillerman_protocol::agent::AgentDefinition;

use crate::teams::TeamSetup;

/// Everything a session needs in order to start agents.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// Agents beside the built-in ones; a later definition replaces an earlier one of its name.
    pub definitions: Vec<AgentDefinition>,
    /// Whether the built-in agents are offered too.
    pub built_in: bool,
    /// The definition by which the session itself works.
    pub main: Option<MainAgent>,
    /// The team it leads; nothing when agents with names are like all others.
    pub team: Option<TeamSetup>,
    /// How many agents there may be.
    pub limits: AgentLimits,
    /// Makes the tools of each agent.
    pub toolbox: Arc<dyn Toolbox>,
    /// Keeps the transcripts of agents.
    pub files: Arc<dyn AgentFiles>,
    /// Gives agents memory, working copies and servers of their own.
    pub grounds: Arc<dyn Grounds>,
}

/// The definition by which a session itself works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainAgent {
    /// The definition's name.
    pub name: String,
    /// What was chosen for the session, so that the definition's does not count.
    pub chosen: Vec<Chosen>,
}

/// Something that can be chosen for a session beside its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The model.
    Model,
    /// How hard it tries.
    Effort,
    /// The permission mode.
    Mode,
}

/// How many agents there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// How deep agents may start agents; zero means that nobody starts any.
    pub depth: u32,
    /// How many may be at work at once, over the whole tree.
    pub at_once: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { depth: 3, at_once: 20 }
    }
}
