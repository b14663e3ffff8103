//! Spans as JSON, in the form that OTLP gives its messages there.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::span::{Span, Value, nanos};

/// An `ExportTraceServiceRequest` with these spans.
pub(crate) fn request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let of_resource = resource.iter().map(|(name, value)| attribute(name, &value.as_str().into()));
    let scope = json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")});
    let spans: Vec<Json> = spans.iter().map(write_span).collect();
    let whole = json!({"resourceSpans": [{
        "resource": {"attributes": of_resource.collect::<Vec<Json>>()},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }]});
    whole.to_string().into_bytes()
}

fn write_span(span: &Span) -> Json {
    let attributes = span.attributes.iter().map(|(name, value)| attribute(name, value));
    let mut written = json!({
        "traceId": hex(&span.place.trace),
        "spanId": hex(&span.place.span),
        "name": span.name,
        "kind": span.kind.number(),
        // Numbers of 64 bits are texts, since not every reader has such numbers.
        "startTimeUnixNano": nanos(span.start).to_string(),
        "endTimeUnixNano": nanos(span.end).to_string(),
        "attributes": attributes.collect::<Vec<Json>>(),
    });
    if let Some(parent) = &span.parent {
        written["parentSpanId"] = json!(hex(parent));
    }
    if let Some(message) = &span.failure {
        written["status"] = json!({"code": 2, "message": message});
    }
    written
}

fn attribute(name: &str, value: &Value) -> Json {
    json!({"key": name, "value": any_value(value)})
}

fn any_value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Amount(amount) => json!({"doubleValue": amount}),
        Value::Texts(texts) => {
            let texts: Vec<Json> = texts.iter().map(|text| json!({"stringValue": text})).collect();
            json!({"arrayValue": {"values": texts}})
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string cannot fail.
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok());
        text
    })
}
