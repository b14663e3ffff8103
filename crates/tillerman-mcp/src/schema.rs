//! Input schemas as providers accept them: an object at the root, without alternatives there.

use serde_json::{Map, Value, json};

const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// A server's schema with its root made an object of all properties that any alternative has.
pub(crate) fn flattened(schema: &Map<String, Value>) -> Value {
    let mut flat = schema.clone();
    let mut properties = match flat.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for word in ALTERNATIVES {
        let Some(Value::Array(alternatives)) = flat.remove(word) else { continue };
        for alternative in alternatives {
            let Some(Value::Object(more)) = alternative.get("properties").cloned() else {
                continue;
            };
            for (name, property) in more {
                properties.entry(name).or_insert(property);
            }
            // What every part of an allOf requires is required; an alternative's is not.
            if word == "allOf"
                && let Some(Value::Array(required)) = alternative.get("required")
            {
                let all = flat.entry("required").or_insert_with(|| json!([]));
                if let Value::Array(all) = all {
                    all.extend(required.iter().cloned());
                }
            }
        }
    }
    flat.insert("type".to_owned(), json!("object"));
    flat.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(flat)
}
