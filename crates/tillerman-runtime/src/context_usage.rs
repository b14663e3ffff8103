//! How full the context window is.

use serde_json::{Value, json};
use tillerman_engine::{ContextUsage, Session};
use tillerman_ports::MemoryNote;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::tool::ToolSpec;

/// Answers `get_context_usage`. The total is the provider's own count where there is one; how it
/// is shared out between the parts is estimated from their size.
pub(crate) fn describe(
    session: &Session,
    memory: &[MemoryNote],
    agents: &[AgentDefinition],
) -> Value {
    let usage = session.context_usage();
    let config = session.config();
    let foreign = config.tools.iter().filter(|tool| tool.name.starts_with("mcp__"));
    let loaded = foreign.map(|tool| (&tool.name, Some(size(tool))));
    let deferred = config.init.deferred.iter().map(|name| (name, None));
    let described = |(name, size): (&String, Option<u64>)| {
        let server = name.split("__").nth(1).unwrap_or_default();
        let tokens = tokens(size.unwrap_or_default());
        json!({"name": name, "serverName": server, "tokens": tokens, "isLoaded": size.is_some()})
    };
    let mcp_tools: Vec<Value> = loaded.chain(deferred).map(described).collect();
    json!({
        "categories": categories(&usage),
        "totalTokens": usage.total,
        "maxTokens": usage.window,
        "rawMaxTokens": usage.window,
        "percentage": usage.total * 100 / usage.window,
        "model": session.model(),
        "memoryFiles": memory.iter().map(memory_file).collect::<Vec<Value>>(),
        "mcpTools": mcp_tools,
        "agents": agents.iter().map(agent).collect::<Vec<Value>>(),
        "gridRows": [],
        "autoCompactThreshold": usage.threshold,
        "isAutoCompactEnabled": usage.threshold.is_some(),
        "apiUsage": null,
        "isEstimate": true,
    })
}

/// Bytes that the model is told about a tool.
fn size(tool: &ToolSpec) -> u64 {
    let told = tool.name.len() + tool.description.len() + tool.input_schema.to_string().len();
    told as u64
}

/// A token has about 3.5 bytes.
const fn tokens(bytes: u64) -> u64 {
    (bytes * 2).div_ceil(7)
}

fn memory_file(note: &MemoryNote) -> Value {
    json!({"path": note.path.to_string_lossy(), "type": note.kind, "tokens": tokens(note.bytes)})
}

/// What the model is told about an agent is its name and when to call it.
fn agent(definition: &AgentDefinition) -> Value {
    let told = definition.name.len() + definition.description.len();
    json!({"agentType": definition.name, "tokens": tokens(told as u64)})
}

fn categories(usage: &ContextUsage) -> Vec<Value> {
    let category = |id: &str, name: &str, tokens: u64, kind: &str| json!({"id": id, "name": name, "tokens": tokens, "color": "inactive", "kind": kind});
    let mut categories = vec![
        category("system_prompt", "System prompt", usage.system, "used"),
        category("system_tools", "Tools", usage.tools, "used"),
    ];
    if usage.mcp_tools > 0 {
        categories.push(category("mcp_tools", "MCP tools", usage.mcp_tools, "used"));
    }
    categories.push(category("memory_files", "Memory files", usage.memory, "used"));
    categories.push(category("messages", "Messages", usage.messages, "used"));
    categories.push(category("free_space", "Free space", usage.free(), "free"));
    if usage.threshold.is_some() {
        let buffer = usage.buffer();
        categories.push(category("autocompact_buffer", "Autocompact buffer", buffer, "buffer"));
    }
    categories
}
