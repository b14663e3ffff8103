//! What a tool is: its name, the fields of its input, and what it does with them.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tillerman_ports::{BoxFuture, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput};

use crate::config::DesktopConfig;

/// A tool as it is written down.
pub(crate) struct Plan {
    /// Its name within the server.
    pub(crate) name: &'static str,
    /// What the model is told about it.
    pub(crate) description: &'static str,
    /// Whether it only looks.
    pub(crate) access: Access,
    /// The fields of its input.
    pub(crate) fields: &'static [Field],
    /// What it does.
    pub(crate) run: fn(Arc<DesktopConfig>, ToolCall) -> BoxFuture<ToolOutcome>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A field of an input.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldKind,
    pub(crate) need: Need,
    pub(crate) meaning: &'static str,
}

/// What a field holds.
#[derive(Debug)]
pub(crate) enum FieldKind {
    Text,
    Texts,
    Choice(&'static [&'static str]),
}

/// Whether a field must be there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl Plan {
    /// A JSON schema of the input.
    pub(crate) fn schema(&self) -> Value {
        let property = |field: &Field| {
            let mut schema = match &field.kind {
                FieldKind::Text => json!({"type": "string"}),
                FieldKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
                FieldKind::Choice(choices) => json!({"type": "string", "enum": choices}),
            };
            schema["description"] = json!(field.meaning);
            (field.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = self.fields.iter().map(property).collect();
        let required = self.fields.iter().filter(|field| field.need == Need::Required);
        let required: Vec<&str> = required.map(|field| field.name).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// Checks an input field by field.
    pub(crate) fn check(&self, input: &Value) -> Result<(), String> {
        let name = self.name;
        let Value::Object(given) = input else {
            return Err(format!("{name}: the input must be a JSON object."));
        };
        let is_known = |key: &String| self.fields.iter().any(|field| field.name == key);
        if let Some(unknown) = given.keys().find(|key| !is_known(key)) {
            let known: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("{name}: there is no field {unknown}; the fields are: {known}."));
        }
        self.fields.iter().try_for_each(|field| {
            check_field(field, given.get(field.name))
                .map_err(|wrong| format!("{name}: {} {wrong} ({}).", field.name, field.meaning))
        })
    }
}

fn check_field(field: &Field, value: Option<&Value>) -> Result<(), String> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return match field.need {
            Need::Required => Err("is required".to_owned()),
            Need::Optional => Ok(()),
        };
    };
    let plain = |value: &Value| match value.as_str() {
        Some(text) if text.contains('\0') => Err("contains a NUL character".to_owned()),
        Some(_) => Ok(()),
        None => Err("must be a text".to_owned()),
    };
    match &field.kind {
        FieldKind::Text => plain(value),
        FieldKind::Texts => match value.as_array() {
            Some(texts) => texts.iter().try_for_each(plain),
            None => Err("must be a list of texts".to_owned()),
        },
        FieldKind::Choice(choices) => match value.as_str() {
            Some(text) if choices.contains(&text) => Ok(()),
            _ => Err(format!("must be one of {}", choices.join(", "))),
        },
    }
}

/// A text of an input that has been checked.
pub(crate) fn text<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}

/// What a model sees of a call that succeeded: JSON as text.
pub(crate) fn answered(answer: &Value) -> ToolOutcome {
    let text = serde_json::to_string_pretty(answer).unwrap_or_default();
    Ok(ToolOutput::new(Content::Text(text), None))
}

/// What a model sees of a call that failed.
pub(crate) fn failed(problem: impl fmt::Display) -> ToolOutcome {
    Err(ToolFailure::new(problem.to_string()))
}
