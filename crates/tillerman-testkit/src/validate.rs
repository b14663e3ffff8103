//! The rules by which the real API refuses a request.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::conversation::{Turn, blocks, kind_of, turns};

const MAX_BREAKPOINTS: usize = 4;
const MIN_THINKING_BUDGET: u64 = 1024;
const LONGEST_TOOL_NAME: usize = 128;

/// Everything the API would refuse about a message request, in plain words.
pub(crate) fn problems(headers: &BTreeMap<String, String>, body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check_headers(headers, &mut found);
    if !body.is_object() {
        found.push("the body is not a JSON object".to_owned());
        return found;
    }
    check_parameters(body, &mut found);
    check_tools(body, &mut found);
    if breakpoints(body) > MAX_BREAKPOINTS {
        found.push(format!("more than {MAX_BREAKPOINTS} blocks carry cache_control"));
    }
    if blocks(&body["system"]).iter().any(|block| is_blank(block)) {
        found.push("system: blank text block".to_owned());
    }
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        found.push("messages is missing or empty".to_owned());
        return found;
    }
    for (index, message) in messages.iter().enumerate() {
        let problems = message_problems(message).into_iter();
        found.extend(problems.map(|problem| format!("messages.{index}: {problem}")));
    }
    check_turns(&turns(messages), &mut found);
    found
}

fn check_headers(headers: &BTreeMap<String, String>, found: &mut Vec<String>) {
    if !headers.contains_key("x-api-key") && !headers.contains_key("authorization") {
        found.push("neither x-api-key nor authorization is set".to_owned());
    }
    if !headers.contains_key("anthropic-version") {
        found.push("the anthropic-version header is missing".to_owned());
    }
}

fn check_parameters(body: &Value, found: &mut Vec<String>) {
    if body["model"].as_str().is_none_or(str::is_empty) {
        found.push("model is missing".to_owned());
    }
    let max_tokens = body["max_tokens"].as_u64().unwrap_or(0);
    if max_tokens == 0 {
        found.push("max_tokens is missing or not positive".to_owned());
    }
    if body["thinking"]["type"] == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
        if budget < MIN_THINKING_BUDGET || budget >= max_tokens {
            found.push(format!(
                "thinking.budget_tokens must be at least {MIN_THINKING_BUDGET} and below max_tokens"
            ));
        }
    }
}

fn check_tools(body: &Value, found: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !names.insert(name) {
            found.push(format!("tool {name} is defined twice"));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > LONGEST_TOOL_NAME || !name.chars().all(allowed) {
            found.push(format!("bad tool name {name:?}"));
        }
        let is_custom = tool["type"].as_str().is_none_or(|kind| kind == "custom");
        if is_custom && tool["input_schema"]["type"] != "object" {
            found.push(format!("tool {name} has no input_schema of type object"));
        }
    }
}

/// Counts cache breakpoints; inputs and schemas of tools are data and may hold the word freely.
fn breakpoints(value: &Value) -> usize {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "input" | "input_schema"))
            .map(|(key, value)| {
                usize::from(key == "cache_control" && value.is_object()) + breakpoints(value)
            })
            .sum(),
        Value::Array(items) => items.iter().map(breakpoints).sum(),
        _ => 0,
    }
}

fn message_problems(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    if !matches!(role, "user" | "assistant" | "system") {
        found.push(format!("role {} is unknown", message["role"]));
    }
    let blocks = blocks(&message["content"]);
    if blocks.is_empty() || message["content"] == "" {
        found.push("content is empty".to_owned());
        return found;
    }
    found.extend(blocks.iter().filter_map(|block| block_problem(block)).map(str::to_owned));
    found
}

fn block_problem(block: &Value) -> Option<&'static str> {
    let absent = |value: &Value| value.as_str().is_none_or(str::is_empty);
    match kind_of(block) {
        "" => Some("a block without a type"),
        "text" if is_blank(block) => Some("blank text block"),
        "thinking" if absent(&block["signature"]) => Some("thinking block without a signature"),
        "thinking" | "redacted_thinking" if block["cache_control"].is_object() => {
            Some("cache_control on a thinking block")
        }
        "image" if absent(&block["source"]["type"]) => Some("image without a source"),
        "tool_use" if absent(&block["id"]) || absent(&block["name"]) => {
            Some("tool_use without id or name")
        }
        "tool_use" if !block["input"].is_object() => Some("tool_use whose input is no object"),
        "tool_result" if absent(&block["tool_use_id"]) => Some("tool_result without tool_use_id"),
        _ => None,
    }
}

fn is_blank(block: &Value) -> bool {
    kind_of(block) == "text" && block["text"].as_str().is_none_or(|text| text.trim().is_empty())
}

fn check_turns(turns: &[Turn<'_>], found: &mut Vec<String>) {
    if turns.first().is_none_or(|turn| turn.role != "user") {
        found.push("the first message is not from the user".to_owned());
    }
    if turns.last().is_none_or(|turn| turn.role != "user") {
        found.push("the last message is not from the user".to_owned());
    }
    let mut seen = BTreeSet::new();
    for (index, turn) in turns.iter().enumerate() {
        if turn.role == "assistant" {
            check_assistant(turn, &mut seen, found);
        } else {
            let before = index.checked_sub(1).map(|before| &turns[before]);
            check_user(turn, before, found);
        }
    }
}

fn check_assistant<'a>(turn: &'a Turn<'_>, seen: &mut BTreeSet<&'a str>, found: &mut Vec<String>) {
    for id in ids(turn, "tool_use", "id") {
        if !seen.insert(id) {
            found.push(format!("tool_use id {id} is used twice"));
        }
    }
    if turn.of_kind("tool_result").next().is_some() {
        found.push("tool_result in an assistant message".to_owned());
    }
}

fn check_user(turn: &Turn<'_>, before: Option<&Turn<'_>>, found: &mut Vec<String>) {
    if turn.of_kind("tool_use").next().is_some() {
        found.push("tool_use in a user message".to_owned());
    }
    let calls = before.map(|before| ids(before, "tool_use", "id")).unwrap_or_default();
    let results = ids(turn, "tool_result", "tool_use_id");
    for id in calls.iter().filter(|id| !results.contains(id)) {
        found.push(format!("tool_use {id} without a tool_result"));
    }
    for id in results.iter().filter(|id| !calls.contains(id)) {
        found.push(format!("tool_result {id} without a tool_use before it"));
    }
    if results.iter().collect::<BTreeSet<_>>().len() < results.len() {
        found.push("two tool_results for one tool_use".to_owned());
    }
    let is_result = |block: &Value| kind_of(block) == "tool_result";
    if !results.is_empty() && !turn.blocks.first().is_some_and(|block| is_result(block)) {
        found.push("tool_result blocks must come first in a user message".to_owned());
    }
}

fn ids<'a>(turn: &'a Turn<'_>, kind: &'a str, key: &str) -> Vec<&'a str> {
    turn.of_kind(kind).map(|block| block[key].as_str().unwrap_or_default()).collect()
}
