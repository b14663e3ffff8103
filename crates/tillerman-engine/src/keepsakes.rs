//! What outlives a compaction beside the summary: the list of steps, the plan and the files that
//! were read last.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Message};

use crate::conversation::{CLEARED, blocks};
use crate::meter;

const TODO_TOOL: &str = "TodoWrite";
const PLAN_TOOL: &str = "ExitPlanMode";
const READ_TOOL: &str = "Read";
const CHANGING_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
const MOST_FILES: usize = 5;

/// What is carried from one compaction to the next, because the calls it comes from are gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keepsakes {
    todos: Option<Value>,
    plan: Option<String>,
}

/// A file that was read: where it lies, and what was in it if that still holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadFile {
    pub(crate) path: String,
    pub(crate) text: Option<String>,
}

impl Keepsakes {
    /// What messages add to what was carried so far.
    pub(crate) fn collect(&self, messages: &[Arc<Message>]) -> Self {
        let mut kept = self.clone();
        for (call, name, input) in calls(messages) {
            match name {
                TODO_TOOL => kept.todos = input.get("todos").cloned().or(kept.todos),
                PLAN_TOOL if succeeded(messages, call) => {
                    let plan = input.get("plan").and_then(Value::as_str);
                    kept.plan = plan.map(str::to_owned).or(kept.plan);
                }
                _ => {}
            }
        }
        kept
    }

    /// As a transcript entry stores it.
    pub(crate) fn to_fields(&self) -> Map<String, Value> {
        let state = json!({"todos": self.todos, "plan": self.plan});
        Map::from_iter([("compactState".to_owned(), state)])
    }

    /// From what a transcript entry stored.
    pub(crate) fn from_fields(fields: &Map<String, Value>) -> Self {
        let field = |name: &str| {
            let state = fields.get("compactState")?;
            state.get(name).filter(|value| !value.is_null()).cloned()
        };
        let plan = field("plan").and_then(|plan| plan.as_str().map(str::to_owned));
        Self { todos: field("todos"), plan }
    }

    /// The list and the plan as texts for the model.
    pub(crate) fn texts(&self) -> Vec<String> {
        let todos = self.todos.as_ref().and_then(Value::as_array).filter(|list| !list.is_empty());
        let todos = todos.map(|list| {
            let lines: Vec<String> = list.iter().map(step).collect();
            format!("The list of steps as it stands:\n{}", lines.join("\n"))
        });
        let plan = self.plan.as_ref().filter(|plan| !plan.trim().is_empty());
        let plan = plan.map(|plan| format!("The plan that the user approved:\n{plan}"));
        [todos, plan].into_iter().flatten().collect()
    }
}

fn step(step: &Value) -> String {
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    let mark = match text("status") {
        "completed" => "x",
        "in_progress" => "~",
        _ => " ",
    };
    format!("[{mark}] {}", text("content"))
}

/// The files that were read last, newest first, with as much text as fits into `room` tokens.
pub(crate) fn read_files(messages: &[Arc<Message>], room: u64) -> Vec<ReadFile> {
    let mut files: Vec<ReadFile> = Vec::new();
    let results = results(messages);
    for (call, name, input) in calls(messages) {
        let Some(path) = input.get("file_path").and_then(Value::as_str) else { continue };
        let known = files.iter().position(|file| file.path == path);
        if CHANGING_TOOLS.contains(&name) {
            if let Some(at) = known {
                files[at].text = None;
            }
        } else if name == READ_TOOL
            && let Some(text) = results.get(call)
        {
            known.map(|at| files.remove(at));
            files.push(ReadFile { path: path.to_owned(), text: text.clone() });
        }
    }
    let mut room = room;
    let newest = files.into_iter().rev().take(MOST_FILES);
    let fitted = newest.map(|file| {
        let size = file.text.as_ref().map_or(0, |text| meter::tokens(text.len()));
        let fits = size <= room / 2;
        room -= if fits { size } else { 0 };
        ReadFile { text: file.text.filter(|_| fits), ..file }
    });
    fitted.collect()
}

/// A file as a text for the model.
pub(crate) fn describe(file: &ReadFile) -> String {
    match &file.text {
        Some(text) => format!("{} as it was when you read it last:\n{text}", file.path),
        None => format!("You also read {}; read it again if you need it.", file.path),
    }
}

fn calls(messages: &[Arc<Message>]) -> impl Iterator<Item = (&ToolUseId, &str, &Value)> {
    messages.iter().flat_map(|message| blocks(message)).filter_map(|block| match block {
        Block::ToolUse { id, name, input } => Some((id, name.as_str(), input)),
        _ => None,
    })
}

fn succeeded(messages: &[Arc<Message>], call: &ToolUseId) -> bool {
    results(messages).contains_key(call)
}

/// The texts of good results; those that are not text or were cleared have none.
fn results(messages: &[Arc<Message>]) -> HashMap<&ToolUseId, Option<String>> {
    let all = messages.iter().flat_map(|message| blocks(message));
    let results = all.filter_map(|block| match block {
        Block::ToolResult(result) if !result.is_error => {
            let text = result.content.plain_text();
            let is_there = !text.trim().is_empty() && text != CLEARED;
            Some((&result.tool_use_id, is_there.then_some(text)))
        }
        _ => None,
    });
    results.collect()
}
