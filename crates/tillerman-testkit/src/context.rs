//! Renders what the model sees, one line per item, for snapshots and failure messages.

use serde_json::Value;

use crate::conversation::{blocks, kind_of, plain_text};
use crate::request::CapturedRequest;

const LONGEST: usize = 100;

/// Renders a request: system prompt, tools, then role, kind and shortened text of every block.
pub(crate) fn render(request: &CapturedRequest) -> String {
    let mut lines = Vec::new();
    let system = request.system_text();
    if !system.is_empty() {
        lines.push(format!("system: {}", shorten(&system)));
    }
    let tools = request.tool_names();
    if !tools.is_empty() {
        lines.push(format!("tools: {}", tools.join(" ")));
    }
    for message in request.messages() {
        let role = message["role"].as_str().unwrap_or("(no role)");
        lines.extend(blocks(&message["content"]).iter().map(|block| line(role, block)));
    }
    lines.join("\n")
}

fn line(role: &str, block: &Value) -> String {
    let text = |key: &str| shorten(block[key].as_str().unwrap_or_default());
    match kind_of(block) {
        "text" => format!("{role} text: {}", text("text")),
        "thinking" => format!("{role} thinking: {}", text("thinking")),
        "tool_use" => {
            let input = shorten(&block["input"].to_string());
            format!("{role} tool_use: {} {} {input}", plain(&block["id"]), plain(&block["name"]))
        }
        "tool_result" => {
            let outcome = if block["is_error"] == true { "error" } else { "ok" };
            let said = shorten(&said(&block["content"]));
            format!("{role} tool_result: {} {outcome} {said}", plain(&block["tool_use_id"]))
        }
        other => format!("{role} {other}"),
    }
}

/// The text of a tool result, with the kinds of blocks that have none in brackets.
fn said(content: &Value) -> String {
    let parts = blocks(content);
    let parts = parts.iter().map(|block| match kind_of(block) {
        "text" => plain(&block["text"]).to_owned(),
        other => format!("[{other}]"),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { plain_text(content) } else { parts.join("\n") }
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or("(none)")
}

/// One line of bounded length that still shows line breaks and how much is missing.
fn shorten(text: &str) -> String {
    let one_line = text.replace('\n', "\\n");
    let length = one_line.chars().count();
    if length <= LONGEST {
        return one_line;
    }
    let head: String = one_line.chars().take(LONGEST).collect();
    format!("{head}… ({} more)", length - LONGEST)
}
