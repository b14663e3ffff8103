//! What a hook puts in place of a tool's output, and what of it the model sees.

use std::mem::discriminant;

use serde_json::Value;
use tillerman_protocol::content::{Block, Content};

/// The output to use instead, for the model and for hosts. An output that hosts know the form of
/// keeps that form: whoever reads it must not find something else in its place.
pub(crate) fn replacement(
    tool: &str,
    original: Option<&Value>,
    value: Value,
) -> Result<(Content, Option<Value>), String> {
    let Some(original) = original.filter(|_| !tool.starts_with("mcp__")) else {
        return Ok((content_of(value), original.cloned()));
    };
    if !has_form_of(original, &value) {
        return Err(format!(
            "A hook's updatedToolOutput does not have the form of {tool}'s output and was left \
             out; the model sees what {tool} said."
        ));
    }
    Ok((content_of(words_of(&value)), Some(value)))
}

/// Whether a value is of the same kind and, where it is an object, shares a field with the original
/// and has none of another kind.
fn has_form_of(original: &Value, value: &Value) -> bool {
    if discriminant(original) != discriminant(value) {
        return false;
    }
    let (Value::Object(original), Value::Object(value)) = (original, value) else { return true };
    let mut shared = value.iter().filter_map(|(name, value)| Some((original.get(name)?, value)));
    let agree = |(original, value): (&Value, &Value)| {
        original.is_null() || value.is_null() || discriminant(original) == discriminant(value)
    };
    shared.clone().next().is_some() && shared.all(agree)
}

/// What an output says in words: what a command printed, what is in a file, else all of it.
fn words_of(value: &Value) -> Value {
    let text = |path: &str| value.pointer(path).and_then(Value::as_str);
    match (text("/stdout"), text("/file/content")) {
        (Some(printed), _) => {
            let parts = [printed, text("/stderr").unwrap_or_default()];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            Value::String(parts.join("\n"))
        }
        (None, Some(content)) => Value::String(content.to_owned()),
        (None, None) => value.clone(),
    }
}

/// A value as the model sees it: text, content blocks, or else JSON as text.
fn content_of(value: Value) -> Content {
    let is_block = |value: &Value| value.get("type").is_some_and(Value::is_string);
    match value {
        Value::String(text) => Content::Text(text),
        Value::Array(values) if values.iter().all(is_block) => {
            let blocks = values
                .into_iter()
                .map(|value| serde_json::from_value(value.clone()).unwrap_or(Block::Other(value)));
            Content::Blocks(blocks.collect())
        }
        value => Content::Text(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_command_printed_is_replaced_for_everybody() {
        let original = json!({"stdout": "key=123", "stderr": "", "interrupted": false});
        let value = json!({"stdout": "key=***", "stderr": "warned", "interrupted": false});
        let replaced = replacement("Bash", Some(&original), value.clone());
        assert_eq!(replaced, Ok((Content::Text("key=***\nwarned".to_owned()), Some(value))));
    }

    #[test]
    fn another_form_is_left_out() {
        let original = json!({"stdout": "a", "stderr": "", "interrupted": false});
        for value in [json!("text"), json!({"other": 1}), json!({"stdout": 5}), json!([1])] {
            assert!(replacement("Bash", Some(&original), value).is_err());
        }
    }

    #[test]
    fn servers_may_say_anything() {
        let original = json!([{"type": "text", "text": "a"}]);
        let replaced = replacement("mcp__s__t", Some(&original), json!("b"));
        assert_eq!(replaced, Ok((Content::Text("b".to_owned()), Some(original))));
    }
}
