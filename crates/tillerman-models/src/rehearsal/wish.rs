//! What a person can ask of a rehearsal.

use serde_json::Value;

/// Where a command or a subagent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The answer waits for it.
    Foreground,
    /// It goes on by itself.
    Background,
}

/// One request out of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    /// List the files of a directory; none means the working directory.
    List(Option<String>),
    /// Show what a file says.
    Read(String),
    /// Run a shell command.
    Run(String, Place),
    /// Write a file.
    Write { path: String, content: String },
    /// Replace a text in a file.
    Replace { path: String, old: String, new: String },
    /// Look for a text in files.
    Search { text: String, place: Option<String> },
    /// Look for files by name.
    FindFiles(String),
    /// Ask the person something.
    Ask { question: String, options: Vec<String> },
    /// Give a task to a subagent.
    Delegate { task: String, agent: Option<String>, place: Place },
    /// Keep a list of things to do.
    Todo(Vec<String>),
    /// Fetch a page.
    Fetch(String),
    /// Call a tool by its name; without an input one is made up from its schema.
    Use { tool: String, input: Option<Value> },
    /// Say something.
    Say(String),
    /// Tell what happened in the conversation so far.
    Recap,
    /// Something a rehearsal does not understand.
    Unclear(String),
}
