//! Cards for people: everything that will run, byte-exact, nothing hidden, and what it is bound to.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tillerman_protocol::permission::{PermissionMode, PermissionUpdate, UpdateDestination};

use crate::wire::{ApprovalKind, Display, Elicitation, Suggestion};

/// A card that is longer than this is shown in whole, but no rule is offered with it.
const LONG: usize = 10_000;

/// Everything an answer is for. Whatever of it changes needs another answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) cwd: &'a str,
    pub(crate) session: &'a str,
    pub(crate) mode: &'a str,
    /// The programs that the call runs, as the session saw them.
    pub(crate) programs: &'a Value,
}

impl Bound<'_> {
    /// SHA-256 over all of it, in hex. Every part is preceded by its length, so that no two
    /// questions share a hash.
    pub(crate) fn hash(&self) -> String {
        let (input, programs) =
            (canonical(self.input).to_string(), canonical(self.programs).to_string());
        let mut hasher = Sha256::new();
        for part in [self.tool, &input, self.cwd, self.session, self.mode, &programs] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The same value with its keys in order.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            let sorted = names.into_iter().map(|name| (name.clone(), canonical(&fields[name])));
            Value::Object(sorted.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

/// What kind of answer a call wants.
pub(crate) fn kind_of(tool: &str) -> ApprovalKind {
    match tool {
        "AskUserQuestion" => ApprovalKind::Question,
        "ExitPlanMode" => ApprovalKind::Plan,
        _ => ApprovalKind::Permission,
    }
}

/// All that will run.
pub(crate) fn display(tool: &str, title: Option<&str>, input: &Value) -> Display {
    let title = title.map_or_else(|| title_of(tool, input), visible);
    let mut lines = Vec::new();
    match input {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                write_field(&mut lines, name, value);
            }
        }
        other => write_field(&mut lines, "input", other),
    }
    let raw = input.to_string();
    let mut warnings = Vec::new();
    if has_hidden(&strings(input).concat()) {
        warnings.push(
            "This call contains characters that are invisible or change the order of text. They \
             are shown as escapes; look at them before you allow it."
                .to_owned(),
        );
    }
    if let Some(host) = foreign_host(tool, input) {
        warnings.push(format!(
            "The address has letters that may look like others: {host}. Make sure that it is the \
             host you think it is."
        ));
    }
    if raw.len() > LONG {
        warnings.push("This call is long. Read all of it before you allow it.".to_owned());
    }
    Display { title, lines, warnings }
}

/// A question of a server: who asks, what it says, and everything it wants to know.
pub(crate) fn of_elicitation(asked: &Elicitation) -> Display {
    let title = format!(
        "{} asks for {}",
        visible(&asked.server),
        match &asked.url {
            Some(_) => "a visit to a page",
            None if asked.fields.is_empty() => "a confirmation",
            None => "an answer",
        }
    );
    let mut lines: Vec<String> = asked.message.split('\n').map(visible).collect();
    lines.extend(asked.url.as_deref().map(visible));
    for field in &asked.fields {
        let more = field.description.as_deref().map(|text| format!(": {text}"));
        lines.push(visible(&format!("{}{}", field.label, more.unwrap_or_default())));
    }
    Display { title, lines, warnings: asked.problem.clone().into_iter().collect() }
}

/// The host of an address with every letter beyond ASCII as an escape, where there are any.
fn foreign_host(tool: &str, input: &Value) -> Option<String> {
    let address = input.get("url").and_then(Value::as_str).filter(|_| tool == "WebFetch")?;
    let (_, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let spell = |letter: char| match letter {
        letter if letter.is_ascii() => letter.to_string(),
        letter => letter.escape_unicode().to_string(),
    };
    (!host.is_ascii()).then(|| host.chars().map(spell).collect())
}

/// Rules on offer; none for calls that people cannot take in or that hide something.
pub(crate) fn suggestions(input: &Value, updates: &[PermissionUpdate]) -> Vec<Suggestion> {
    if input.to_string().len() > LONG || has_hidden(&strings(input).concat()) {
        return Vec::new();
    }
    updates
        .iter()
        .map(|update| Suggestion {
            label: label(update),
            update: serde_json::to_value(update).unwrap_or_default(),
        })
        .collect()
}

fn label(update: &PermissionUpdate) -> String {
    let place = |destination: UpdateDestination| match destination {
        UpdateDestination::UserSettings => "in all projects",
        UpdateDestination::ProjectSettings => "in this project, for everybody",
        UpdateDestination::LocalSettings => "in this project",
        UpdateDestination::Session | UpdateDestination::CliArg => "in this session",
    };
    match update {
        PermissionUpdate::AddRules { rules, destination, .. } => {
            let rules: Vec<String> = rules
                .iter()
                .map(|rule| match &rule.rule_content {
                    Some(content) => visible(&format!("{}({content})", rule.tool_name)),
                    None => visible(&rule.tool_name),
                })
                .collect();
            format!("Always allow {} {}", rules.join(", "), place(*destination))
        }
        PermissionUpdate::SetMode { mode: PermissionMode::AcceptEdits, destination } => {
            format!("Accept edits of files {}", place(*destination))
        }
        PermissionUpdate::SetMode { mode, destination } => {
            format!("Switch to {} {}", mode.as_str(), place(*destination))
        }
        PermissionUpdate::AddDirectories { directories, destination } => {
            let directories: Vec<String> = directories.iter().map(|it| visible(it)).collect();
            format!("Also work in {} {}", directories.join(", "), place(*destination))
        }
        other => visible(&serde_json::to_string(other).unwrap_or_default()),
    }
}

fn title_of(tool: &str, input: &Value) -> String {
    let field = |name: &str| input.get(name).and_then(Value::as_str).map(visible);
    match tool {
        "Bash" => "Run a command".to_owned(),
        "Monitor" => "Run and watch a command".to_owned(),
        "Write" => field("file_path")
            .map_or_else(|| "Write a file".to_owned(), |path| format!("Write {path}")),
        "Edit" | "MultiEdit" | "NotebookEdit" => {
            let path = field("file_path").or_else(|| field("notebook_path"));
            path.map_or_else(|| "Edit a file".to_owned(), |path| format!("Edit {path}"))
        }
        "WebFetch" => {
            field("url").map_or_else(|| "Fetch a page".to_owned(), |url| format!("Fetch {url}"))
        }
        "AskUserQuestion" => "The agent has a question".to_owned(),
        "ExitPlanMode" => "The agent has a plan".to_owned(),
        tool => format!("Use {}", visible(tool)),
    }
}

fn write_field(lines: &mut Vec<String>, name: &str, value: &Value) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    let name = visible(name);
    let mut parts = text.split('\n');
    let first = visible(parts.next().unwrap_or_default());
    lines.push(format!("{name}: {first}"));
    lines.extend(parts.map(|part| format!("    {}", visible(part))));
}

/// Every string in a value, names included.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| std::iter::once(name.as_str()).chain(strings(value)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether a text holds characters that nobody sees.
fn has_hidden(text: &str) -> bool {
    text.chars().any(|letter| !matches!(letter, '\n' | '\t') && is_hidden(letter))
}

/// One line of text with everything that is invisible or moves other text as an escape.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push('\t'),
            letter if is_hidden(letter) => {
                shown.push_str(&format!("\\u{{{:04x}}}", u32::from(letter)));
            }
            letter => shown.push(letter),
        }
    }
    shown
}

/// Control characters, spaces that are no space, marks that join, hide or turn text around, and
/// characters that stand for nothing.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{00a0}' | '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}'
            | '\u{1680}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests;
