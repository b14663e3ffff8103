//! From the schema that a server sends to a form that people can fill in.

use serde_json::{Map, Value};
use tillerman_protocol::control::PersonRequest;

use crate::forms::check::fits;
use crate::wire::{Elicitation, FieldChoice, FieldKind, FormField, TextFormat};

/// Fields that a form has at most; nobody fills in more.
const MOST_FIELDS: usize = 100;
/// Choices that a field has at most.
const MOST_CHOICES: usize = 500;

/// A question as it came and as people see it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Everything the server sent, which the answer is bound to.
    pub(crate) input: Value,
    pub(crate) shown: Elicitation,
}

/// Reads a question; nothing when it is another one.
pub(crate) fn read(request: PersonRequest) -> Option<Asked> {
    let input = serde_json::to_value(&request).ok()?;
    let PersonRequest::Elicitation {
        mcp_server_name, message, mode, url, requested_schema, ..
    } = request
    else {
        return None;
    };
    let is_page = mode.as_deref() == Some("url") || (mode.is_none() && url.is_some());
    let mut shown =
        Elicitation { server: mcp_server_name, message, fields: Vec::new(), url, problem: None };
    if is_page {
        shown.problem = address_problem(shown.url.as_deref().unwrap_or_default());
    } else {
        shown.url = None;
        match form(requested_schema.as_ref()) {
            Ok(fields) => shown.fields = fields,
            Err(problem) => shown.problem = Some(problem),
        }
    }
    Some(Asked { input, shown })
}

/// What is wrong with an address that people are to open.
fn address_problem(address: &str) -> Option<String> {
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let is_web = matches!(scheme.as_str(), "http" | "https") && address.contains("://");
    let is_plain = !address.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    let text = "The address is not one of the web, so that it is not offered for opening.";
    (!is_web || !is_plain).then(|| text.to_owned())
}

fn form(schema: Option<&Value>) -> Result<Vec<FormField>, String> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let Some(properties) = properties else { return Ok(Vec::new()) };
    if properties.len() > MOST_FIELDS {
        return Err(format!("The form has more than {MOST_FIELDS} fields."));
    }
    let required: Vec<&str> = schema
        .and_then(|schema| schema.get("required")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let read = |(name, schema): (&String, &Value)| {
        field(name, schema, required.contains(&name.as_str()))
            .ok_or_else(|| format!("The field {name:?} asks for something that no form can ask."))
    };
    properties.iter().map(read).collect()
}

fn field(name: &str, schema: &Value, required: bool) -> Option<FormField> {
    let schema = schema.as_object()?;
    let kind = kind(schema)?;
    let text = |name: &str| schema.get(name).and_then(Value::as_str).map(str::to_owned);
    let label = text("title").filter(|title| !title.trim().is_empty());
    // A value that the form itself would refuse helps nobody.
    let default = schema.get("default").filter(|value| fits(&kind, value).is_ok()).cloned();
    Some(FormField {
        name: name.to_owned(),
        label: label.unwrap_or_else(|| name.to_owned()),
        description: text("description"),
        required,
        default,
        kind,
    })
}

fn kind(schema: &Map<String, Value>) -> Option<FieldKind> {
    let count = |name: &str| schema.get(name).and_then(Value::as_u64);
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    match schema.get("type").and_then(Value::as_str)? {
        "string" => match choices(schema) {
            Some(choices) => some(choices).map(|choices| FieldKind::Choice { choices }),
            None => Some(FieldKind::Text {
                format: schema.get("format").and_then(Value::as_str).and_then(format),
                min_length: count("minLength"),
                max_length: count("maxLength"),
            }),
        },
        kind @ ("number" | "integer") => Some(FieldKind::Number {
            whole: kind == "integer",
            minimum: number("minimum"),
            maximum: number("maximum"),
        }),
        "boolean" => Some(FieldKind::Flag),
        "array" => {
            let choices = some(choices(schema.get("items")?.as_object()?)?)?;
            let (min_items, max_items) = (count("minItems"), count("maxItems"));
            Some(FieldKind::Choices { choices, min_items, max_items })
        }
        _ => None,
    }
}

fn some(choices: Vec<FieldChoice>) -> Option<Vec<FieldChoice>> {
    Some(choices).filter(|choices| !choices.is_empty() && choices.len() <= MOST_CHOICES)
}

/// What there is to choose from, with or without names for people; nothing when all goes.
fn choices(schema: &Map<String, Value>) -> Option<Vec<FieldChoice>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names = schema.get("enumNames").and_then(Value::as_array);
        let name = |place: usize| names.and_then(|names| text(names.get(place)?));
        let choice = |(place, value): (usize, &Value)| {
            let value = text(value)?;
            Some(FieldChoice { label: name(place).unwrap_or_else(|| value.clone()), value })
        };
        return Some(values.iter().enumerate().filter_map(choice).collect());
    }
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let choice = |schema: &Value| {
        let value = text(schema.get("const")?)?;
        let label = schema.get("title").and_then(text).unwrap_or_else(|| value.clone());
        Some(FieldChoice { value, label })
    };
    Some(titled.iter().filter_map(choice).collect())
}

fn format(name: &str) -> Option<TextFormat> {
    match name {
        "email" => Some(TextFormat::Email),
        "uri" => Some(TextFormat::Uri),
        "date" => Some(TextFormat::Date),
        "date-time" => Some(TextFormat::DateTime),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
