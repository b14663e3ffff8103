//! Managed settings that a host hands over: they may restrict, never allow.

use serde_json::{Map, Value, json};

/// Keys that only ever take something away.
const RESTRICTING: [&str; 6] = [
    "allowManagedPermissionRulesOnly",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "deniedMcpServers",
    "availableModels",
    "disableAutoMode",
];
/// The same below `permissions`.
const RESTRICTING_RULES: [&str; 3] = ["deny", "ask", "disableBypassPermissionsMode"];

/// What of a host's settings restricts, and the keys that do not.
pub(crate) fn restricting(settings: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let (mut kept, mut dropped) = (Map::new(), Vec::new());
    for (key, value) in settings {
        match (key.as_str(), value) {
            // Hooks of administrators are not for a host to switch off.
            ("disableAllHooks", value) => {
                if *value != json!(false) && *value != json!("false") {
                    kept.insert("allowManagedHooksOnly".to_owned(), json!(true));
                }
            }
            ("permissions", Value::Object(rules)) => {
                let (below, others): (Map<String, Value>, Map<String, Value>) = rules
                    .clone()
                    .into_iter()
                    .partition(|(key, _)| RESTRICTING_RULES.contains(&key.as_str()));
                dropped.extend(others.keys().map(|key| format!("permissions.{key}")));
                kept.insert(key.clone(), Value::Object(below));
            }
            (name, _) if RESTRICTING.contains(&name) => {
                kept.insert(key.clone(), value.clone());
            }
            _ => dropped.push(key.clone()),
        }
    }
    (kept, dropped)
}
