//! Reading a `hooks` section: what can be used is used, what cannot is named.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::hook::event::HookEvent;
use crate::hook::handler::{HookAction, HookHandler};

/// A `hooks` section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookSection {
    /// The handlers, grouped as they were written.
    pub groups: Vec<HookGroup>,
    /// What could not be used, a sentence each.
    pub problems: Vec<String>,
}

/// Handlers that share an event and a matcher.
#[derive(Clone, Debug, PartialEq)]
pub struct HookGroup {
    /// The event.
    pub event: HookEvent,
    /// Which tools (or other subjects) they are for; absent means all.
    pub matcher: Option<String>,
    /// What is done.
    pub handlers: Vec<HookHandler>,
}

/// Where a section comes from, and what its handlers may count on.
#[derive(Clone, Debug, PartialEq)]
pub struct HookSource {
    /// Where it comes from, for people, as in "the user's settings".
    pub origin: String,
    /// What kind of thing it comes from.
    pub scope: HookScope,
    /// The section.
    pub section: HookSection,
    /// Variables for its commands, such as a plugin's folder.
    pub variables: Vec<(String, String)>,
}

/// What kind of thing a section comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookScope {
    /// Settings, which hold as long as the session.
    Settings,
    /// A plugin.
    Plugin,
    /// A skill; only its handlers can run once.
    Skill,
    /// An agent's file.
    Agent,
}

impl HookSection {
    /// Reads a section by event name.
    pub fn read<'a>(section: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        let mut read = Self::default();
        for (name, groups) in section {
            read.event(name, groups);
        }
        read
    }

    /// Whether nothing was written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.problems.is_empty()
    }

    fn event(&mut self, name: &str, groups: &Value) {
        let Ok(event) = serde_json::from_value(Value::String(name.to_owned())) else {
            let text = format!("the hook event {name} is not known; its hooks will never run");
            return self.problems.push(text);
        };
        let Some(groups) = groups.as_array() else {
            let text = format!("{name} holds no list of hooks; write [{{\"hooks\": [...]}}]");
            return self.problems.push(text);
        };
        for (index, group) in groups.iter().enumerate() {
            self.group(event, &format!("{name}[{index}]"), group);
        }
    }

    fn group(&mut self, event: HookEvent, place: &str, group: &Value) {
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            // Wider than was meant, which a person notices; narrower, nobody would.
            Some(_) => {
                let text = format!("the matcher of {place} is no text; its hooks run for all");
                self.problems.push(text);
                None
            }
        };
        let Some(entries) = group.get("hooks").and_then(Value::as_array) else {
            let text = format!("{place} has no list named hooks; nothing in it will run");
            return self.problems.push(text);
        };
        let mut handlers = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match handler(entry) {
                Ok(handler) => handlers.push(handler),
                Err(why) => self.problems.push(format!("{place}.hooks[{index}] {why}")),
            }
        }
        self.groups.push(HookGroup { event, matcher, handlers });
    }
}

fn handler(entry: &Value) -> Result<HookHandler, String> {
    let Some(fields) = entry.as_object() else {
        return Err("is no object and will never run".to_owned());
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(HookHandler {
        action: action(fields)?,
        timeout: fields.get("timeout").and_then(Value::as_f64),
        condition: match fields.get("if") {
            None | Some(Value::Null) => None,
            Some(Value::String(rule)) => Some(rule.clone()),
            Some(_) => return Err("has an `if` that is no text and will never run".to_owned()),
        },
        once: fields.get("once").and_then(Value::as_bool).unwrap_or_default(),
        status_message: text("statusMessage"),
    })
}

fn action(fields: &Map<String, Value>) -> Result<HookAction, String> {
    let kind = fields.get("type").and_then(Value::as_str);
    match kind {
        Some("command") => details(fields).map(HookAction::Command),
        Some("http") => details(fields).map(HookAction::Http),
        Some("mcp_tool") => details(fields).map(HookAction::McpTool),
        Some("prompt") => details(fields).map(HookAction::Prompt),
        Some("agent") => details(fields).map(HookAction::Agent),
        Some(other) => Err(format!("is of the type {other}, which is not known; it never runs")),
        None => Err("has no type and will never run".to_owned()),
    }
}

fn details<T: DeserializeOwned>(fields: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields.clone()))
        .map_err(|error| format!("cannot be read ({error}) and will never run"))
}
