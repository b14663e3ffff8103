//! Placeholders in what people write down: variables in headers, fields in inputs.

use serde_json::{Map, Value};

/// Puts variables in place of `$NAME` and `${NAME}`; one that `look_up` does not give is empty.
pub(crate) fn variables(text: &str, look_up: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, behind) = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some((name, behind)) => (name, behind),
            None => after.split_at(name_length(after)),
        };
        if name.is_empty() || name_length(name) != name.len() {
            filled.push('$');
            rest = after;
        } else {
            filled.push_str(&look_up(name).unwrap_or_default());
            rest = behind;
        }
    }
    filled.push_str(rest);
    filled
}

fn name_length(text: &str) -> usize {
    let is_part = |(at, c): (usize, char)| {
        c == '_' || c.is_ascii_alphabetic() || (at > 0 && c.is_ascii_digit())
    };
    text.char_indices().take_while(|it| is_part(*it)).count()
}

/// Puts fields of `told` in place of `${path.to.field}` in every text of an input. A text that is
/// nothing but one placeholder becomes the field itself, whatever its kind.
pub(crate) fn fields(input: &Map<String, Value>, told: &Value) -> Map<String, Value> {
    input.iter().map(|(name, value)| (name.clone(), field(value, told))).collect()
}

fn field(value: &Value, told: &Value) -> Value {
    match value {
        Value::String(text) => match whole(text) {
            Some(path) => look_up(told, path).cloned().unwrap_or_default(),
            None => Value::String(within(text, told)),
        },
        Value::Array(items) => items.iter().map(|item| field(item, told)).collect(),
        Value::Object(map) => Value::Object(fields(map, told)),
        other => other.clone(),
    }
}

fn whole(text: &str) -> Option<&str> {
    let path = text.strip_prefix("${")?.strip_suffix('}')?;
    (!path.contains(['{', '}'])).then_some(path)
}

fn within(text: &str, told: &Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((path, behind)) = after.split_once('}') else {
            filled.push_str("${");
            rest = after;
            continue;
        };
        match look_up(told, path) {
            Some(Value::String(text)) => filled.push_str(text),
            Some(value) => filled.push_str(&value.to_string()),
            None => {}
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

fn look_up<'a>(told: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(told, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}
