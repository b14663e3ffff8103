//! Makes up the smallest value that fits a JSON schema.

use serde_json::{Map, Value};

/// Deep enough for any sensible schema; ends those that refer to themselves.
const DEPTH: usize = 16;

/// Makes up a value for a schema: required fields only, first choices, shortest lists.
pub(super) fn sample(schema: &Value) -> Value {
    Sampler { root: schema }.value(schema, DEPTH)
}

struct Sampler<'a> {
    root: &'a Value,
}

impl Sampler<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        if depth == 0 {
            return Value::Null;
        }
        if let Some(given) = schema.get("const").or_else(|| schema.get("default")) {
            return given.clone();
        }
        if let Some(first) = schema.pointer("/enum/0") {
            return first.clone();
        }
        if let Some(target) = self.reference(schema) {
            return self.value(target, depth - 1);
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema.get(choice).and_then(|choices| choices.get(0)) {
                return self.value(first, depth - 1);
            }
        }
        match type_name(schema) {
            "object" => self.object(schema, depth - 1),
            "array" => self.array(schema, depth - 1),
            "string" => string(schema).into(),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
            "boolean" => true.into(),
            _ => Value::Null,
        }
    }

    fn reference<'s>(&'s self, schema: &Value) -> Option<&'s Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let mut object = Map::new();
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let property = properties.and_then(|properties| properties.get(name));
            let value = property.map_or(Value::Null, |property| self.value(property, depth));
            object.insert(name.to_owned(), value);
        }
        Value::Object(object)
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let length = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
        let item = schema.get("items").map_or(Value::Null, |items| self.value(items, depth));
        (0..length).map(|_| item.clone()).collect()
    }
}

fn type_name(schema: &Value) -> &str {
    let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    match named {
        Some(name) => name,
        None if schema.get("properties").is_some() => "object",
        None => "null",
    }
}

fn string(schema: &Value) -> String {
    let shortest = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(4096);
    let mut text = "rehearsal".to_owned();
    while (text.len() as u64) < shortest {
        text.push_str(" rehearsal");
    }
    text
}
