//! The description of the API, made from the same table as its routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::endpoint::Endpoint;
use crate::api::routes::{ApiState, endpoints};

pub(crate) async fn document(State(state): State<Arc<ApiState>>) -> Json<Value> {
    Json(describe(&state.shared.settings.version))
}

/// The whole document.
pub(crate) fn describe(version: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints(0) {
        let query = endpoint.query.map(|write| write(&mut generator).to_value());
        let body = endpoint.body.map(|write| write(&mut generator).to_value());
        let answer = endpoint.answer.map(|write| write(&mut generator).to_value());
        let operation = operation(&endpoint, query, body, answer);
        let path = format!("/api/v1{}", endpoint.path);
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        entry[endpoint.method] = operation;
    }
    let mut schemas = Map::new();
    for (name, schema) in generator.take_definitions(true) {
        schemas.insert(name, schema);
    }
    flatten_queries(&mut paths, &schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tillerman host",
            "version": version,
            "description": "Conversations with agents: messages, events, cards, projects. Beside \
                these endpoints, GET /api/v1/socket is a WebSocket.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(
    endpoint: &Endpoint,
    query: Option<Value>,
    body: Option<Value>,
    answer: Option<Value>,
) -> Value {
    let names = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{'));
    let parameters: Vec<Value> = names
        .map(|name| name.trim_end_matches('}'))
        .map(|name| {
            json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
        })
        .collect();
    let mut operation = json!({
        "summary": endpoint.summary,
        "x-role": endpoint.role.as_str(),
        "parameters": parameters,
        "responses": {
            endpoint.status.to_string(): response(answer),
            "default": {"description": "What went wrong: error.code and error.message."},
        },
    });
    if let Some(query) = query {
        operation["x-query"] = query;
    }
    if let Some(body) = body {
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": body}}});
    }
    operation
}

fn response(answer: Option<Value>) -> Value {
    match answer {
        Some(schema) => {
            json!({"description": "Done.", "content": {"application/json": {"schema": schema}}})
        }
        None => json!({"description": "Done."}),
    }
}

/// Questions are described as structures; the document wants one parameter for each field.
fn flatten_queries(paths: &mut Map<String, Value>, schemas: &Map<String, Value>) {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        let Some(fields) = operation.as_object_mut() else { continue };
        let Some(query) = fields.remove("x-query") else { continue };
        let name = query["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let schema = name.and_then(|name| schemas.get(name)).unwrap_or(&query);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let parameters = properties.into_iter().map(|(name, schema)| {
            let required = required.iter().any(|it| it == name.as_str());
            json!({"name": name, "in": "query", "required": required, "schema": schema})
        });
        if let Some(list) = fields.get_mut("parameters").and_then(Value::as_array_mut) {
            list.extend(parameters);
        }
    }
}
