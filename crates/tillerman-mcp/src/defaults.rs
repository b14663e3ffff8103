//! Forms that a person accepts without filling in every field.

use serde_json::{Map, Value};

/// What a person accepted, with the form's own values in fields that were left out.
///
/// Whoever shows a form shows those values too, so an omitted field was accepted as it stood.
pub(crate) fn filled(content: Option<Value>, schema: Option<&Value>) -> Option<Value> {
    let fields = schema.and_then(|schema| schema.get("properties")?.as_object());
    let Some(fields) = fields else { return content };
    let mut answers = match content {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(answers)) => answers,
        other => return other,
    };
    for (name, field) in fields {
        if let Some(default) = field.get("default").filter(|_| !answers.contains_key(name)) {
            answers.insert(name.clone(), default.clone());
        }
    }
    Some(Value::Object(answers))
}
