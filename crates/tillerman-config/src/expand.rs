//! `${NAME}` and `${NAME:-otherwise}` in configuration.

use serde_json::Value;

/// Replaces variables in every text of a value. One that is not set and has no substitute stays as
/// it is written, and its name is returned.
pub fn expand(value: &mut Value, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut missing = Vec::new();
    walk(value, lookup, &mut missing);
    missing
}

fn walk(value: &mut Value, lookup: &dyn Fn(&str) -> Option<String>, missing: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("${") => *text = text_of(text, lookup, missing),
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, lookup, missing)),
        Value::Object(fields) => fields.values_mut().for_each(|it| walk(it, lookup, missing)),
        _ => {}
    }
}

/// What a variable stands for is not looked into for further variables.
fn text_of(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    missing: &mut Vec<String>,
) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        expanded.push_str(&rest[..start]);
        let whole = &rest[start..=start + length];
        let inner = &rest[start + 2..start + length];
        let (name, otherwise) =
            inner.split_once(":-").map_or((inner, None), |(name, text)| (name, Some(text)));
        match lookup(name).filter(|found| !found.is_empty() || otherwise.is_none()) {
            Some(found) => expanded.push_str(&found),
            None => match otherwise {
                Some(otherwise) => expanded.push_str(otherwise),
                None => {
                    missing.push(name.to_owned());
                    expanded.push_str(whole);
                }
            },
        }
        rest = &rest[start + length + 1..];
    }
    expanded.push_str(rest);
    expanded
}
