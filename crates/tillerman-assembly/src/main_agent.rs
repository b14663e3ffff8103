//! The agent as which a session itself works: what outranks its definition, and the servers it brings.

use serde_json::Value;
use tillerman_mcp::NamedServer;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_runtime::{Chosen, MainAgent};

use crate::environment::Environment;
use crate::grounds;
use crate::order::SessionOrder;

/// The agent that the order names, with what the order chooses beside it.
pub(crate) fn main_agent(order: &SessionOrder, environment: &Environment) -> Option<MainAgent> {
    let name = order.extension.agent.clone()?;
    let has_effort =
        order.model.effort.is_some() || environment.get("CLAUDE_CODE_EFFORT_LEVEL").is_some();
    let chosen = [
        (Chosen::Model, order.model.model.is_some()),
        (Chosen::Effort, has_effort),
        (Chosen::Mode, order.permission.mode.is_some()),
    ];
    let chosen = chosen.into_iter().filter(|(_, is_chosen)| *is_chosen).map(|(what, _)| what);
    Some(MainAgent { name, chosen: chosen.collect() })
}

/// The servers that the session's own agent writes out. One that cannot be used is said on standard
/// error, and so are all of them where the host wants no servers but its own.
pub(crate) fn servers(
    order: &SessionOrder,
    environment: &Environment,
    of_files: &[AgentDefinition],
) -> Vec<NamedServer> {
    let Some(name) = &order.extension.agent else { return Vec::new() };
    let is_meant = |definition: &&AgentDefinition| definition.name == *name;
    // What the host says replaces what a file says.
    let of_order = order.extension.agents.iter().find(is_meant);
    let Some(definition) = of_order.or_else(|| of_files.iter().find(is_meant)) else {
        return Vec::new();
    };
    let objects = definition.mcp_servers.iter().flatten().filter_map(Value::as_object).flatten();
    let written: Vec<(String, Value)> =
        objects.map(|(name, config)| (name.clone(), config.clone())).collect();
    if order.extension.strict_mcp_config && !written.is_empty() {
        tracing::warn!("the MCP servers of the agent {name} are left out (--strict-mcp-config)");
        return Vec::new();
    }
    let named = written.into_iter().map(|server| grounds::named(server, environment));
    let usable = named.filter_map(|server| {
        server.inspect_err(|why| tracing::warn!("{why}, and is left out of the session")).ok()
    });
    usable.collect()
}
