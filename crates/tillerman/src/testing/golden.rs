//! Transcripts as text, and files to compare them with.

use std::collections::HashMap;
use std::path::Path;

use crate::message::{Block, Content, Message};

const LONGEST: usize = 200;

/// What was said and done, a line each: texts, calls, outcomes and results. Ids, times and costs are
/// left out, so that the same run gives the same text.
#[must_use]
pub fn transcript(messages: &[Message]) -> String {
    let mut tools = HashMap::new();
    let mut text = String::new();
    for message in messages {
        let who = if message.parent_tool_use_id().is_some() { "subagent" } else { "agent" };
        match message {
            Message::Assistant(frame) => {
                for block in &frame.message.content {
                    if let Block::ToolUse { id, name, .. } = block {
                        tools.insert(id.clone(), name.clone());
                    }
                    text += &said(who, block);
                }
            }
            Message::User(frame) => {
                let Content::Blocks(blocks) = &frame.message.content else { continue };
                for block in blocks {
                    let Block::ToolResult(result) = block else { continue };
                    let tool = tools.get(&result.tool_use_id).map_or("tool", String::as_str);
                    let failed = if result.is_error { " failed" } else { "" };
                    let outcome = line(&result.content.plain_text());
                    text += &format!("{tool}{failed}: {outcome}\n");
                }
            }
            Message::Result(result) => {
                let subtype = serde_json::to_value(&result.subtype).unwrap_or_default();
                let subtype = subtype.as_str().unwrap_or_default();
                let outcome = line(result.result.as_deref().unwrap_or_default());
                text += &format!("result {subtype}: {outcome}\n");
            }
            Message::CallbackFailed(failure) => {
                text += &format!("callback failed: {} ({})\n", failure.callback, failure.subject);
            }
            _ => {}
        }
    }
    text
}

fn said(who: &str, block: &Block) -> String {
    match block {
        Block::Text { text, .. } => format!("{who}: {}\n", line(text)),
        Block::Thinking { thinking, .. } => format!("{who} thinks: {}\n", line(thinking)),
        Block::ToolUse { name, input, .. } => {
            format!("calls {name} {}\n", line(&input.to_string()))
        }
        _ => String::new(),
    }
}

/// A text on one line, cut where it gets long.
fn line(text: &str) -> String {
    let line = text.trim().replace('\n', "\\n");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Compares a text with a file. With `UPDATE_GOLDEN` in the environment the file is written instead.
///
/// # Errors
/// With the first line that differs, or when the file cannot be read or written.
pub fn check_golden(path: &Path, text: &str) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return std::fs::write(path, text).map_err(named);
    }
    let wanted = std::fs::read_to_string(path).map_err(named)?;
    let (mut found, mut wanted_lines) = (text.lines(), wanted.lines());
    for number in 1.. {
        match (wanted_lines.next(), found.next()) {
            (None, None) => break,
            (wanted, found) if wanted == found => {}
            (wanted, found) => {
                let nothing = "(nothing)";
                return Err(format!(
                    "{}:{number}: expected\n  {}\nfound\n  {}",
                    path.display(),
                    wanted.unwrap_or(nothing),
                    found.unwrap_or(nothing),
                ));
            }
        }
    }
    Ok(())
}
