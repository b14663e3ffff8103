//! The files that a shell command runs, so that an answer can be bound to what is in them.

use std::path::PathBuf;

use serde_json::Value;

use crate::policy::Policy;
use crate::shell::{self, Launch, Simple, Word, is_interpreter, is_shell, launch};

/// More files than a person would look at are not followed.
const MOST: usize = 20;
/// Operands of an interpreter that may be its script.
const MOST_OPERANDS: usize = 4;
/// How many wrappers are looked through.
const MOST_WRAPPERS: usize = 4;

impl Policy {
    /// The files that a call runs as programs or scripts, as far as its words tell. Each is a list
    /// of paths of which the first that exists is meant: the words of an interpreter do not tell a
    /// script from the value of an option.
    ///
    /// Programs that are found by their name alone are not among them.
    #[must_use]
    pub fn programs(&self, tool: &str, input: &Value) -> Vec<Vec<PathBuf>> {
        let command = input.get("command").and_then(Value::as_str);
        let (Some(command), "Bash") = (command, tool) else { return Vec::new() };
        let cwd = self.directories.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
        let script = shell::read(command, &cwd, self.home.as_deref());
        let runs = script.commands.iter().filter_map(|simple| {
            let words: Vec<&str> = simple.words.iter().map(Word::text).collect();
            let files = files(&words, 0);
            let place = |file: &&str| self.place(file, simple, &cwd);
            Some(files.iter().map(place).collect::<Vec<PathBuf>>()).filter(|it| !it.is_empty())
        });
        runs.take(MOST).collect()
    }

    fn place(&self, file: &str, simple: &Simple, cwd: &std::path::Path) -> PathBuf {
        match (file.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => simple.likely_directory(cwd).join(file),
        }
    }
}

/// What of these words may be the file that runs.
fn files<'a>(words: &[&'a str], depth: usize) -> Vec<&'a str> {
    let Some(first) = words.first() else { return Vec::new() };
    let is_sourced = matches!(*first, "source" | ".");
    if is_sourced || is_shell(first) || is_interpreter(first) {
        let operands = words[1..].iter().filter(|word| !word.starts_with('-'));
        return operands.take(MOST_OPERANDS).copied().collect();
    }
    let inner = launch(words).into_iter().find_map(|launched| match launched {
        Launch::Command { at, .. } if at > 0 && depth < MOST_WRAPPERS => words.get(at..),
        _ => None,
    });
    match inner {
        Some(inner) => files(inner, depth + 1),
        None => first.contains('/').then_some(*first).into_iter().collect(),
    }
}
