//! JSON-RPC as in-process servers speak it.

use serde_json::{Value, json};

pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// An answer.
pub(crate) fn answer(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// An answer that says why there is none.
pub(crate) fn refusal(id: &Value, code: i64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
}

/// What is answered to a message when the tool it calls panics.
pub(crate) fn failure_of(message: &Value) -> Value {
    let content = json!([{"type": "text", "text": "The tool failed unexpectedly."}]);
    let id = message.get("id").unwrap_or(&Value::Null);
    answer(id, &json!({"content": content, "isError": true}))
}

/// What a message is about, for people.
pub(crate) fn subject_of(server: &str, message: &Value) -> String {
    let tool = message.pointer("/params/name").and_then(Value::as_str);
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    format!("{server}: {}", tool.unwrap_or(method))
}
