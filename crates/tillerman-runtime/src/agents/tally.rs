//! What an agent did, counted by kind, for hosts that show it.

use serde_json::{Value, json};

/// The calls of an agent.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Each tool once, in the order of its first call.
    used: Vec<String>,
    reads: u64,
    searches: u64,
    commands: u64,
    edits: u64,
    others: u64,
    lines_added: u64,
    lines_removed: u64,
}

impl Tally {
    /// Counts a call of a tool.
    pub(crate) fn called(&mut self, tool: &str) {
        if !self.used.iter().any(|used| used == tool) {
            self.used.push(tool.to_owned());
        }
        match tool {
            "Read" => self.reads += 1,
            "Glob" | "Grep" | "WebSearch" | "ToolSearch" => self.searches += 1,
            "Bash" => self.commands += 1,
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => self.edits += 1,
            _ => self.others += 1,
        }
    }

    /// Lines that were added and lines that were removed.
    pub(crate) const fn lines(&self) -> (u64, u64) {
        (self.lines_added, self.lines_removed)
    }

    /// Counts the lines that a call changed, as its patch tells them, or those of an agent.
    pub(crate) fn returned(&mut self, result: &Value) {
        if let Some(stats) = result.get("toolStats") {
            let count = |name: &str| stats.get(name).and_then(Value::as_u64).unwrap_or_default();
            self.lines_added += count("linesAdded");
            self.lines_removed += count("linesRemoved");
        }
        let Some(hunks) = result.get("structuredPatch").and_then(Value::as_array) else { return };
        let lines = hunks.iter().filter_map(|hunk| hunk.get("lines").and_then(Value::as_array));
        let mut marks = Vec::new();
        for line in lines.flatten().filter_map(Value::as_str) {
            marks.extend(line.chars().next());
        }
        let made_anew = hunks.is_empty() && result.get("type").is_some_and(|kind| kind == "create");
        let content = result.get("content").and_then(Value::as_str).filter(|_| made_anew);
        self.lines_added += content.map_or(0, |content| content.lines().count() as u64);
        self.lines_added += marks.iter().filter(|mark| **mark == '+').count() as u64;
        self.lines_removed += marks.iter().filter(|mark| **mark == '-').count() as u64;
    }

    /// Adds to what hosts are told about the agent; nothing, where it called nothing.
    pub(crate) fn tell(&self, outcome: &mut Value) {
        if self.used.is_empty() {
            return;
        }
        outcome["toolsUsed"] = json!(self.used);
        outcome["toolStats"] = json!({
            "readCount": self.reads,
            "searchCount": self.searches,
            "bashCount": self.commands,
            "editFileCount": self.edits,
            "linesAdded": self.lines_added,
            "linesRemoved": self.lines_removed,
            "otherToolCount": self.others,
        });
    }
}
