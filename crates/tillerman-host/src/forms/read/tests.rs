//! Forms as servers of all protocol versions send them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillerman_protocol::control::PersonRequest;

use crate::forms::{check, read};
use crate::wire::Elicitation;

fn asked(fields: &Value) -> Elicitation {
    let request = json!({"subtype": "elicitation", "mcp_server_name": "shop", "message": "Which?",
        "mode": "form"});
    let mut request = request.as_object().unwrap().clone();
    request.extend(fields.as_object().unwrap().clone());
    let request: PersonRequest = serde_json::from_value(Value::Object(request)).unwrap();
    read(request).unwrap().shown
}

fn form(properties: &Value, required: &Value) -> Elicitation {
    asked(&json!({"requested_schema":
        {"type": "object", "properties": properties, "required": required}}))
}

/// What the server gets, or the fields that are wrong.
fn answer(form: &Elicitation, answers: Value) -> Result<Value, Vec<String>> {
    let answers: BTreeMap<String, Value> = serde_json::from_value(answers).unwrap();
    check(&form.fields, &answers).map(Value::Object).map_err(|errors| errors.into_keys().collect())
}

#[test]
fn every_kind_of_field_takes_what_it_asks_for_and_nothing_else() {
    let cases = [
        (json!({"type": "string", "minLength": 2, "maxLength": 3}), json!("né"), json!("abcd")),
        (json!({"type": "string", "minLength": 2}), json!("ab"), json!("a")),
        (json!({"type": "string", "format": "email"}), json!("a@b.c"), json!("a b@c")),
        (json!({"type": "string", "format": "uri"}), json!("urn:x"), json!("example.com")),
        (json!({"type": "string", "format": "date"}), json!("2024-02-29"), json!("2023-02-29")),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("2026-11-15T12:00:00+01:00"),
            json!("2026-11-15"),
        ),
        (json!({"type": "string"}), json!(""), json!(1)),
        (json!({"type": "number", "minimum": 0.5}), json!(0.5), json!(0.4)),
        (json!({"type": "integer", "maximum": 9}), json!(9), json!(8.5)),
        (json!({"type": "integer", "maximum": 9}), json!(-3), json!(10)),
        (json!({"type": "boolean"}), json!(false), json!("false")),
        (json!({"type": "string", "enum": ["a", "b"]}), json!("b"), json!("c")),
        (
            json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}),
            json!("r"),
            json!("Red"),
        ),
        (
            json!({"type": "array", "maxItems": 1, "items": {"type": "string", "enum": ["a", "b"]}}),
            json!(["b"]),
            json!(["a", "b"]),
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
            json!(["a"]),
            json!(["a", "a"]),
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
            json!(["a"]),
            json!([]),
        ),
    ];
    for (schema, right, wrong) in cases {
        let form = form(&json!({ "it": schema.clone() }), &json!(["it"]));
        assert_eq!(form.problem, None, "{schema}");
        let good = answer(&form, json!({ "it": right.clone() }));
        assert_eq!(good, Ok(json!({ "it": right })), "{schema}");
        let bad = answer(&form, json!({ "it": wrong.clone() }));
        assert_eq!(bad, Err(vec!["it".to_owned()]), "{schema} took {wrong}");
    }
}

#[test]
fn labels_come_from_titles_names_of_choices_and_else_from_the_values() {
    let form = form(
        &json!({
            "size": {"type": "string", "title": "Size", "description": "in cm",
                "enum": ["s", "m"], "enumNames": ["Small"], "default": "m"},
            "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "The X"}]}},
        }),
        &json!([]),
    );
    let shown = serde_json::to_value(&form.fields).unwrap();
    assert_eq!(
        shown,
        json!([
            {"name": "size", "label": "Size", "description": "in cm", "required": false,
                "default": "m", "kind": {"type": "choice", "choices": [
                    {"value": "s", "label": "Small"}, {"value": "m", "label": "m"}]}},
            {"name": "tags", "label": "tags", "required": false,
                "kind": {"type": "choices", "choices": [{"value": "x", "label": "The X"}]}},
        ])
    );
}

#[test]
fn what_is_left_out_is_its_default_or_is_missed_when_it_is_needed() {
    let form = form(
        &json!({
            "a": {"type": "string"},
            "b": {"type": "boolean", "default": true},
            "c": {"type": "integer", "default": "nonsense"},
        }),
        &json!(["a", "c"]),
    );
    assert_eq!(answer(&form, json!({"a": "x", "c": 1})), Ok(json!({"a": "x", "b": true, "c": 1})));
    let wrong = vec!["a".to_owned(), "c".to_owned(), "d".to_owned()];
    assert_eq!(answer(&form, json!({"a": null, "d": 1})), Err(wrong));
}

#[test]
fn what_no_form_can_ask_is_not_offered() {
    let nested = form(&json!({"it": {"type": "object", "properties": {}}}), &json!([]));
    assert!(nested.problem.unwrap().contains("\"it\""));
    let nothing = form(&json!({"it": {"type": "string", "enum": []}}), &json!([]));
    assert!(nothing.problem.is_some());
    assert_eq!(asked(&json!({})).problem, None, "a form without fields asks for a yes");
}

#[test]
fn only_addresses_of_the_web_are_offered_for_opening() {
    let page = |url: &str| asked(&json!({"mode": "url", "url": url}));
    assert_eq!(page("https://pay.example/x?y=1").problem, None);
    assert_eq!(page("https://pay.example/").url.as_deref(), Some("https://pay.example/"));
    for wrong in
        ["javascript:alert(1)", "file:///etc/passwd", "", "https://a b", "data:text/html,x"]
    {
        assert!(page(wrong).problem.is_some(), "{wrong}");
    }
}
