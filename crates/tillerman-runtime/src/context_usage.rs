//! How full the context window is.

use serde_json::{Value, json};
use tillerman_engine::Session;

const DEFAULT_WINDOW: u64 = 200_000;

/// Answers `get_context_usage`. The total is the provider's own count where there is one; how it
/// is shared out between the parts is estimated from their size.
pub(crate) fn describe(session: &Session) -> Value {
    let config = session.config();
    let system = estimate(config.system.iter().map(|block| block.text.len()).sum());
    let tool_size = |spec: &tillerman_protocol::tool::ToolSpec| {
        spec.name.len() + spec.description.len() + spec.input_schema.to_string().len()
    };
    let tools = estimate(config.tools.iter().map(tool_size).sum());
    let of_servers = config.tools.iter().filter_map(|spec| {
        let (server, _) = spec.name.strip_prefix("mcp__")?.split_once("__")?;
        let tokens = estimate(tool_size(spec));
        Some(json!({"name": spec.name, "serverName": server, "tokens": tokens, "isLoaded": true}))
    });
    let mcp_tools: Vec<Value> = of_servers.collect();
    let messages = session.conversation().messages();
    let said =
        estimate(messages.iter().map(|m| serde_json::to_string(m).map_or(0, |s| s.len())).sum());
    let total = session.context_tokens().max(system + tools + said);
    let profile = config.catalog.profile(session.model());
    let window = profile.map_or(DEFAULT_WINDOW, |profile| profile.context_window).max(total);
    let category = |id: &str, name: &str, tokens: u64| {
        let kind = if id == "free_space" { "free" } else { "used" };
        json!({"id": id, "name": name, "tokens": tokens, "color": "inactive", "kind": kind})
    };
    json!({
        "categories": [
            category("system_prompt", "System prompt", system),
            category("system_tools", "Tools", tools),
            category("messages", "Messages", total.saturating_sub(system + tools)),
            category("free_space", "Free space", window - total),
        ],
        "totalTokens": total,
        "maxTokens": window,
        "rawMaxTokens": window,
        "percentage": total * 100 / window,
        "model": session.model(),
        "memoryFiles": [],
        "mcpTools": mcp_tools,
        "agents": [],
        "gridRows": [],
        "isAutoCompactEnabled": false,
        "apiUsage": null,
        "isEstimate": true,
    })
}

fn estimate(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX) * 2 / 7
}
