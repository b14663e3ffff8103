//! A call as rules see it: the tool, the files it is about, and what it would do to them.

use std::path::Path;

use serde_json::Value;

use crate::place::{Disk, Names, Place};

/// The tool that runs a command to watch what it prints. Whatever holds for commands of Bash holds
/// for its commands too.
pub(crate) const MONITOR: &str = "Monitor";

/// What is known about a call.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// Whether the tool only looks.
    pub only_looks: bool,
    /// The disk that paths are looked up on.
    pub disk: &'a dyn Disk,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tool, input, only_looks, .. } = self;
        f.debug_struct("Facts")
            .field("tool", tool)
            .field("input", input)
            .field("only_looks", only_looks)
            .finish_non_exhaustive()
    }
}

/// What a tool does with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Reads them.
    Read,
    /// Writes them.
    Edit,
    /// Runs shell commands.
    Shell,
    /// Something else.
    Other,
}

impl Facts<'_> {
    pub(crate) fn family(&self) -> Family {
        match self.tool {
            "Bash" | MONITOR => Family::Shell,
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Family::Edit,
            "Read" | "Grep" | "Glob" | "LSP" | "NotebookRead" => Family::Read,
            _ => Family::Other,
        }
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }

    pub(crate) fn command(&self) -> Option<&str> {
        self.text("command").filter(|_| self.family() == Family::Shell)
    }

    /// Whether the call only watches a task that the session has started already.
    pub(crate) fn watches_task(&self) -> bool {
        let runs_nothing = self.input.get("command").is_none_or(Value::is_null);
        self.tool == MONITOR && runs_nothing && self.text("task_id").is_some()
    }

    /// A parameter as rules see it: what a monitor runs, it runs in the background.
    pub(crate) fn parameter(&self, name: &str) -> Option<Value> {
        if self.tool == MONITOR && name == "run_in_background" {
            return Some(Value::Bool(true));
        }
        self.input.get(name).cloned()
    }

    /// The files the call is about, each by all the names it may have.
    pub(crate) fn paths(&self, place: &Place<'_>) -> Vec<Names> {
        let mut texts: Vec<&str> = Vec::new();
        let fields = ["file_path", "notebook_path", "path", "filePath"];
        texts.extend(fields.iter().filter_map(|field| self.text(field)));
        for list in ["files", "edits"] {
            let items = self.input.get(list).and_then(Value::as_array).into_iter().flatten();
            texts.extend(items.filter_map(|item| item.get("file_path").and_then(Value::as_str)));
        }
        if self.tool == "Glob"
            && let Some(pattern) = self.text("pattern")
        {
            texts.push(fixed_part(pattern));
        }
        if texts.is_empty() && self.family() == Family::Read {
            texts.push(".");
        }
        texts.iter().map(|text| named(text, place)).collect()
    }
}

/// The folder of a wildcard pattern.
fn fixed_part(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    match pattern[..end].rfind('/') {
        Some(0) => "/",
        Some(slash) => &pattern[..slash],
        None if end == pattern.len() => pattern,
        None => ".",
    }
}

/// All names of a path, in every notation that some tool might understand.
fn named(text: &str, place: &Place<'_>) -> Names {
    let cwd: &Path = place.cwd();
    let mut names = place.names(text, cwd);
    let other = text.strip_prefix('@').or_else(|| text.strip_prefix("file://"));
    if let Some(other) = other {
        names.add(&place.names(other, cwd));
    }
    names
}
