//! Spans as protocol buffers, in the messages that OTLP defines for traces.

use crate::span::{Span, Value, nanos};

/// Kinds of fields on the wire.
const VARINT: u64 = 0;
const FIXED: u64 = 1;
const LENGTH: u64 = 2;
/// The status of a span that failed.
const FAILED: u64 = 2;

/// An `ExportTraceServiceRequest` with these spans.
pub(crate) fn request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let mut described = Writer::default();
    for (name, value) in resource {
        described.message(1, &attribute(name, &Value::Text(value.clone())));
    }
    let mut scope = Writer::default();
    scope.text(1, env!("CARGO_PKG_NAME"));
    scope.text(2, env!("CARGO_PKG_VERSION"));
    let mut scoped = Writer::default();
    scoped.message(1, &scope);
    for span in spans {
        scoped.message(2, &write_span(span));
    }
    let mut of_resource = Writer::default();
    of_resource.message(1, &described);
    of_resource.message(2, &scoped);
    let mut whole = Writer::default();
    whole.message(1, &of_resource);
    whole.0
}

fn write_span(span: &Span) -> Writer {
    let mut writer = Writer::default();
    writer.bytes(1, &span.place.trace);
    writer.bytes(2, &span.place.span);
    if let Some(parent) = &span.parent {
        writer.bytes(4, parent);
    }
    writer.text(5, &span.name);
    writer.number(6, span.kind.number());
    writer.fixed(7, nanos(span.start));
    writer.fixed(8, nanos(span.end));
    for (name, value) in &span.attributes {
        writer.message(9, &attribute(name, value));
    }
    if let Some(message) = &span.failure {
        let mut status = Writer::default();
        status.text(2, message);
        status.number(3, FAILED);
        writer.message(15, &status);
    }
    writer
}

fn attribute(name: &str, value: &Value) -> Writer {
    let mut writer = Writer::default();
    writer.text(1, name);
    writer.message(2, &any_value(value));
    writer
}

fn any_value(value: &Value) -> Writer {
    let mut writer = Writer::default();
    match value {
        Value::Text(text) => writer.bytes(1, text.as_bytes()),
        Value::Number(number) => writer.number(3, number.cast_unsigned()),
        Value::Amount(amount) => writer.fixed(4, amount.to_bits()),
        Value::Texts(texts) => {
            let mut list = Writer::default();
            for text in texts {
                list.message(1, &any_value(&Value::Text(text.clone())));
            }
            writer.message(5, &list);
        }
    }
    writer
}

/// Writes the fields of one message.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap_or_default());
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.varint((field << 3) | kind);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.key(field, VARINT);
        self.varint(number);
    }

    fn fixed(&mut self, field: u64, number: u64) {
        self.key(field, FIXED);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A text; an empty one is what a reader assumes anyway.
    fn text(&mut self, field: u64, text: &str) {
        if !text.is_empty() {
            self.bytes(field, text.as_bytes());
        }
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }
}
