//! Writes a request as chat completions take it.

use serde_json::{Map, Value, json};
use tillerman_protocol::model::ModelRequest;

use super::choice::name_at;
use super::config::{Dialect, OpenAiConfig};
use super::conversation::push_message;

/// The body of a request.
pub(super) fn body(request: &ModelRequest, config: &OpenAiConfig) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    set("model", name_at(request.model.trim(), &config.base_url).into());
    set("messages", messages(request).into());
    if !request.tools.is_empty() {
        // Servers refuse an empty list.
        set("tools", tools(request).into());
    }
    let limit =
        config.max_output_tokens.map_or(request.max_tokens, |most| most.min(request.max_tokens));
    match config.dialect {
        Dialect::Compatible => set("max_tokens", limit.into()),
        Dialect::OpenAi => {
            set("max_completion_tokens", limit.into());
            if let Some(effort) = &request.effort {
                set("reasoning_effort", reasoning_effort(effort).into());
            }
        }
    }
    set("stream", true.into());
    set("stream_options", json!({"include_usage": true}));
    // These two mean something to the Messages API only.
    let known =
        |(name, _): &(&String, &Value)| !["thinking", "output_config"].contains(&name.as_str());
    for (name, value) in config.extra_body.iter().chain(request.extra_body.iter().filter(known)) {
        set(name, value.clone());
    }
    body
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let system: Vec<&str> = request
        .system
        .iter()
        .map(|block| block.text.as_str())
        .filter(|text| !text.trim().is_empty())
        .collect();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system.join("\n\n")}));
    }
    for message in &request.messages {
        push_message(message, &mut messages);
    }
    messages
}

fn tools(request: &ModelRequest) -> Vec<Value> {
    let function = |tool: &tillerman_protocol::tool::ToolSpec| {
        json!({
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            }
        })
    };
    request.tools.iter().map(function).collect()
}

fn reasoning_effort(effort: &str) -> &str {
    match effort {
        "xhigh" | "max" => "high",
        other => other,
    }
}
