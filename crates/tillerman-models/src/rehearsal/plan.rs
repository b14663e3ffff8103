//! Plans calls of the tools on offer, and tells which of them come next.

use serde_json::{Value, json};
use tillerman_protocol::tool::ToolSpec;

use super::conversation::Outcome;
use super::sample::sample;
use super::wish::{Place, Wish};

/// The tool by which an engine asks for an answer that fits a schema.
const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// A wish and the calls that fulfill it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) wish: Wish,
    pub(super) calls: Vec<PlannedCall>,
    /// The tool that would be needed and is not on offer.
    pub(super) missing_tool: Option<&'static str>,
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) tool: String,
    pub(super) input: Value,
    when: When,
    effect: Effect,
}

/// Whether a call is made at all, given how the call planned before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    PreviousWorked,
    /// The previous call failed because the file was not read before.
    ReadWasMissing,
}

/// Whether a call may share a response with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Looks,
    Acts,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// These calls, in one response.
    Calls(Vec<PlannedCall>),
    /// The answer: for each part, the outcomes of the calls that were made.
    Answer(Vec<Vec<Outcome>>),
}

/// Plans the calls for some wishes.
pub(super) fn plan(wishes: Vec<Wish>, tools: &[ToolSpec], directory: Option<&str>) -> Vec<Part> {
    let planner = Planner { tools, directory };
    let mut parts: Vec<Part> = wishes.into_iter().map(|wish| planner.part(wish)).collect();
    if planner.offers(STRUCTURED_OUTPUT) {
        parts.push(planner.part(Wish::Use { tool: STRUCTURED_OUTPUT.to_owned(), input: None }));
    }
    parts
}

/// Tells what comes next, given the outcomes so far in the order of the calls.
pub(super) fn next(parts: &[Part], outcomes: &[Outcome]) -> Next {
    let mut outcomes = outcomes.iter();
    let mut batch: Vec<PlannedCall> = Vec::new();
    let mut played = Vec::new();
    for part in parts {
        let mut made: Vec<Outcome> = Vec::new();
        let mut previous: Option<&Outcome> = None;
        for call in &part.calls {
            if !is_due(call.when, previous.take()) {
                continue;
            }
            if let Some(outcome) = outcomes.next() {
                previous = Some(outcome);
                made.push(outcome.clone());
                continue;
            }
            // Only single looks share a response: outcomes are told apart by their order.
            let is_single_look = call.effect == Effect::Looks && part.calls.len() == 1;
            if batch.is_empty() || is_single_look {
                batch.push(call.clone());
            }
            if !is_single_look {
                return Next::Calls(batch);
            }
        }
        played.push(made);
    }
    if batch.is_empty() { Next::Answer(played) } else { Next::Calls(batch) }
}

fn is_due(when: When, previous: Option<&Outcome>) -> bool {
    match when {
        When::Always => true,
        When::PreviousWorked => previous.is_some_and(|outcome| !outcome.failed),
        When::ReadWasMissing => previous.is_some_and(|outcome| {
            let text = outcome.text.to_lowercase();
            let asks = ["was not read", "not been read", "read it first", "read it again"];
            outcome.failed && asks.iter().any(|ask| text.contains(ask))
        }),
    }
}

impl PlannedCall {
    fn look(tool: &str, input: Value) -> Self {
        Self { tool: tool.to_owned(), input, when: When::Always, effect: Effect::Looks }
    }

    fn act(tool: &str, input: Value) -> Self {
        Self { effect: Effect::Acts, ..Self::look(tool, input) }
    }

    fn when(self, when: When) -> Self {
        Self { when, ..self }
    }
}

struct Planner<'a> {
    tools: &'a [ToolSpec],
    directory: Option<&'a str>,
}

impl Planner<'_> {
    fn part(&self, wish: Wish) -> Part {
        match self.calls(&wish) {
            Ok(calls) => Part { wish, calls, missing_tool: None },
            Err(tool) => Part { wish, calls: Vec::new(), missing_tool: Some(tool) },
        }
    }

    /// The calls for a wish, or the tool it would take.
    fn calls(&self, wish: &Wish) -> Result<Vec<PlannedCall>, &'static str> {
        match wish {
            Wish::List(place) => self.list(place.as_deref()).map(one),
            Wish::Read(path) => self.read(path).map(one),
            Wish::Run(command, place) => self.run(command, *place).map(one),
            Wish::Write { path, content } => self.write(path, content),
            Wish::Replace { path, old, new } => self.replace(path, old, new),
            Wish::Search { text, place } => self.search(text, place.as_deref()).map(one),
            Wish::FindFiles(pattern) => self.find_files(pattern).map(one),
            Wish::Ask { question, options } => self.ask(question, options).map(one),
            Wish::Delegate { task, agent, place } => {
                self.delegate(task, agent.as_deref(), *place).map(one)
            }
            Wish::Todo(items) => self.todo(items),
            Wish::Fetch(url) => self.fetch(url).map(one),
            Wish::Use { tool, input } => self.use_tool(tool, input.as_ref()).map(one),
            Wish::Say(_) | Wish::Recap | Wish::Unclear(_) => Ok(Vec::new()),
        }
    }

    fn list(&self, place: Option<&str>) -> Result<PlannedCall, &'static str> {
        if self.offers("Bash") {
            let command = place.map_or_else(
                || "ls -la".to_owned(),
                |place| format!("ls -la {}", shell_path(place)),
            );
            return Ok(PlannedCall::look("Bash", bash_input(&command, "List files")));
        }
        self.require("Glob")?;
        let mut input = json!({"pattern": "*"});
        if let Some(place) = place {
            input["path"] = self.absolute(place).into();
        }
        Ok(PlannedCall::look("Glob", input))
    }

    fn read(&self, path: &str) -> Result<PlannedCall, &'static str> {
        if !self.offers("Read") && self.offers("Bash") {
            let command = format!("cat {}", shell_path(path));
            return Ok(PlannedCall::look("Bash", bash_input(&command, "Show a file")));
        }
        self.require("Read")?;
        Ok(PlannedCall::look("Read", json!({"file_path": self.absolute(path)})))
    }

    fn run(&self, command: &str, place: Place) -> Result<PlannedCall, &'static str> {
        self.require("Bash")?;
        let mut input = bash_input(command, "Run the command from the prompt");
        if place == Place::Background {
            input["run_in_background"] = true.into();
        }
        Ok(PlannedCall::act("Bash", input))
    }

    fn write(&self, path: &str, content: &str) -> Result<Vec<PlannedCall>, &'static str> {
        self.require("Write")?;
        let input = json!({"file_path": self.absolute(path), "content": content});
        let write = PlannedCall::act("Write", input);
        let mut calls = vec![write.clone()];
        if self.offers("Read") {
            calls.push(self.read(path)?.when(When::ReadWasMissing));
            calls.push(write.when(When::PreviousWorked));
        }
        Ok(calls)
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<Vec<PlannedCall>, &'static str> {
        self.require("Edit")?;
        let file = self.absolute(path);
        let input = json!({"file_path": file, "old_string": old, "new_string": new});
        let edit = PlannedCall::act("Edit", input);
        if !self.offers("Read") {
            return Ok(vec![edit]);
        }
        Ok(vec![self.read(path)?, edit.when(When::PreviousWorked)])
    }

    fn search(&self, text: &str, place: Option<&str>) -> Result<PlannedCall, &'static str> {
        if self.offers("Grep") {
            let pattern = literal_pattern(text);
            let mut input = json!({"pattern": pattern, "output_mode": "content", "-n": true});
            if let Some(place) = place {
                input["path"] = self.absolute(place).into();
            }
            return Ok(PlannedCall::look("Grep", input));
        }
        self.require("Bash")?;
        let place = shell_path(place.unwrap_or("."));
        let command = format!("grep -rnF -e {} {place}", shell_word(text));
        Ok(PlannedCall::look("Bash", bash_input(&command, "Search files")))
    }

    fn find_files(&self, pattern: &str) -> Result<PlannedCall, &'static str> {
        if self.offers("Glob") {
            let deep = pattern.contains('/') || pattern.starts_with("**");
            let pattern = if deep { pattern.to_owned() } else { format!("**/{pattern}") };
            return Ok(PlannedCall::look("Glob", json!({"pattern": pattern})));
        }
        self.require("Bash")?;
        let command = format!("find . -name {}", shell_word(pattern));
        Ok(PlannedCall::look("Bash", bash_input(&command, "Find files")))
    }

    fn ask(&self, question: &str, options: &[String]) -> Result<PlannedCall, &'static str> {
        self.require("AskUserQuestion")?;
        let defaults = ["Yes".to_owned(), "No".to_owned()];
        // The tool takes two to four options.
        let options =
            if options.len() < 2 { &defaults[..] } else { &options[..options.len().min(4)] };
        let options: Vec<Value> = options
            .iter()
            .map(|label| json!({"label": label, "description": format!("Choose {label}")}))
            .collect();
        let question = json!({
            "question": question, "header": "Rehearsal", "options": options, "multiSelect": false
        });
        Ok(PlannedCall::act("AskUserQuestion", json!({"questions": [question]})))
    }

    fn delegate(
        &self,
        task: &str,
        agent: Option<&str>,
        place: Place,
    ) -> Result<PlannedCall, &'static str> {
        let tool = if self.offers("Task") && !self.offers("Agent") { "Task" } else { "Agent" };
        self.require(tool)?;
        let description: Vec<&str> = task.split_whitespace().take(5).collect();
        let agent = agent.unwrap_or("general-purpose");
        let mut input = json!({
            "description": description.join(" "), "prompt": task, "subagent_type": agent
        });
        if place == Place::Background {
            input["run_in_background"] = true.into();
        }
        Ok(PlannedCall::act(tool, input))
    }

    fn todo(&self, items: &[String]) -> Result<Vec<PlannedCall>, &'static str> {
        if !self.offers("TodoWrite") && self.offers("TaskCreate") {
            let create = |item: &String| {
                PlannedCall::act("TaskCreate", json!({"subject": item, "description": item}))
            };
            return Ok(items.iter().map(create).collect());
        }
        self.require("TodoWrite")?;
        let todos: Vec<Value> = items
            .iter()
            .map(|item| json!({"content": item, "status": "pending", "activeForm": item}))
            .collect();
        Ok(one(PlannedCall::act("TodoWrite", json!({"todos": todos}))))
    }

    fn fetch(&self, url: &str) -> Result<PlannedCall, &'static str> {
        self.require("WebFetch")?;
        Ok(PlannedCall::look("WebFetch", json!({"url": url, "prompt": "What does the page say?"})))
    }

    fn use_tool(&self, name: &str, input: Option<&Value>) -> Result<PlannedCall, &'static str> {
        let tool = self.tools.iter().find(|tool| tool.name == name).ok_or("that tool")?;
        let input = input.cloned().unwrap_or_else(|| sample(&tool.input_schema));
        Ok(PlannedCall::act(name, input))
    }

    fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    fn require(&self, name: &'static str) -> Result<(), &'static str> {
        if self.offers(name) { Ok(()) } else { Err(name) }
    }

    fn absolute(&self, path: &str) -> String {
        match self.directory {
            Some(directory) if !path.starts_with(['/', '~']) => {
                let directory = directory.trim_end_matches('/');
                format!("{directory}/{}", path.trim_start_matches("./"))
            }
            _ => path.to_owned(),
        }
    }
}

fn one(call: PlannedCall) -> Vec<PlannedCall> {
    vec![call]
}

fn bash_input(command: &str, description: &str) -> Value {
    json!({"command": command, "description": description})
}

/// A path as a word of a shell command that cannot be taken for an option.
fn shell_path(path: &str) -> String {
    if path.starts_with('-') { shell_word(&format!("./{path}")) } else { shell_word(path) }
}

/// Quotes a word for the shell unless it is plainly harmless.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/~".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Escapes what a regular expression would not take literally.
fn literal_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
