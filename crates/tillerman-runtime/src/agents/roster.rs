//! The agents that can be called, by name.

use std::collections::BTreeMap;

use serde_json::Value;
use tillerman_policy::Policy;
use tillerman_protocol::agent::AgentDefinition;

use crate::agents::built_in::built_in;
use crate::agents::order::is_agent_call;

/// The agents that can be called, in the order in which models are told of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    agents: Vec<AgentDefinition>,
}

impl Roster {
    pub(crate) fn new(definitions: Vec<AgentDefinition>, with_built_in: bool) -> Self {
        let mut roster = Self { agents: if with_built_in { built_in() } else { Vec::new() } };
        definitions.into_iter().for_each(|definition| roster.add(definition));
        roster
    }

    /// Adds an agent, in place of one of the same name.
    pub(crate) fn add(&mut self, definition: AgentDefinition) {
        match self.agents.iter_mut().find(|held| held.name == definition.name) {
            Some(held) => *held = definition,
            None => self.agents.push(definition),
        }
    }

    /// Adds what a host defines in the handshake; returns what it should know about that.
    pub(crate) fn add_from_host(&mut self, agents: &BTreeMap<String, Value>) -> Vec<String> {
        let mut complaints = Vec::new();
        for (name, value) in agents {
            match serde_json::from_value::<AgentDefinition>(value.clone()) {
                Ok(definition) => self.add(AgentDefinition { name: name.clone(), ..definition }),
                Err(error) => complaints.push(format!(
                    "The agent {name} cannot be used: {error}. It was left out; check its fields."
                )),
            }
        }
        complaints
    }

    pub(crate) fn find(&self, name: &str) -> Option<&AgentDefinition> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, AgentDefinition> {
        self.agents.iter()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// The agents that no rule forbids.
    pub(crate) fn permitted(&self, policy: &Policy) -> Self {
        let is_denied = |name: &str| {
            policy
                .deny
                .iter()
                .any(|rule| is_agent_call(rule.tool()) && rule.content() == Some(name))
        };
        let agents = self.agents.iter().filter(|agent| !is_denied(&agent.name)).cloned();
        Self { agents: agents.collect() }
    }

    /// The agents that an agent with these tools may start: `Agent(one, two)` names them, `Agent`
    /// alone means all.
    pub(crate) fn for_tools(&self, tools: &[String]) -> Self {
        let entries = tools.iter().filter_map(|tool| split(tool));
        let named: Vec<(&str, Option<&str>)> =
            entries.filter(|(tool, _)| is_agent_call(tool)).collect();
        if named.iter().any(|(_, kinds)| kinds.is_none()) {
            return self.clone();
        }
        let kinds: Vec<&str> = named
            .iter()
            .filter_map(|(_, kinds)| *kinds)
            .flat_map(|kinds| kinds.split(',').map(str::trim))
            .collect();
        let agents = self.agents.iter().filter(|agent| kinds.contains(&agent.name.as_str()));
        Self { agents: agents.cloned().collect() }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}

/// A tool of a list and what stands in its parentheses.
pub(crate) fn split(entry: &str) -> Option<(&str, Option<&str>)> {
    let entry = entry.trim();
    let (tool, content) = match entry.split_once('(') {
        Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (entry, None),
    };
    (!tool.is_empty()).then_some((tool, content))
}
