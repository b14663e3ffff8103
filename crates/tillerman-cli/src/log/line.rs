//! One line for each event, with what the spans around it know and without anything secret.

use std::fmt::{Debug, Write as _};
use std::io::Write as _;

use serde_json::{Map, Value};
use tillerman_assembly::SystemClock;
use tillerman_ports::Clock as _;
use tillerman_runtime::Secrets;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::log::{About, LogFormat};

const MESSAGE: &str = "message";
/// What every JSON line has; fields of the same names are left out.
const OWN: [&str; 4] = ["time", "level", "target", MESSAGE];
/// The longest text of one field; what is longer is cut off.
const LONGEST: usize = 16 * 1024;

/// Writes one line for each event.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) format: LogFormat,
    pub(crate) about: About,
    pub(crate) level: Level,
    pub(crate) secrets: Secrets,
    /// Where lines go instead of standard error.
    pub(crate) file: Option<std::fs::File>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::from_level(self.level))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut around = Fields::default();
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(known) = span.extensions().get::<Fields>() {
                // Spans come from the inside out, and the inner ones know better.
                for (name, value) in &known.0 {
                    around.0.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        let metadata = event.metadata();
        let mut line = match self.format {
            LogFormat::Text => self.text(metadata, fields, around),
            LogFormat::Json => self.json(metadata, fields, around),
        };
        line.push('\n');
        // Nobody may be reading, and whom could we tell?
        drop(match &self.file {
            Some(file) => (&*file).write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        });
    }
}

impl Lines {
    fn text(&self, metadata: &Metadata<'_>, mut fields: Fields, around: Fields) -> String {
        let mut line = format!("{:>5}", metadata.level().as_str());
        let mut add = |text: &str| {
            line.push(' ');
            line.extend(text.chars().map(|letter| match letter {
                '\n' | '\t' => letter,
                _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
                _ => letter,
            }));
        };
        if let Some(message) = fields.0.shift_remove(MESSAGE) {
            add(message.as_str().unwrap_or_default());
        }
        let around = if self.about == About::Many { around } else { Fields::default() };
        for (name, value) in fields.0.into_iter().chain(around.0) {
            match value {
                Value::String(text) => add(&format!("{name}={text}")),
                other => add(&format!("{name}={other}")),
            }
        }
        self.secrets.redact_text(&mut line);
        line
    }

    fn json(&self, metadata: &Metadata<'_>, mut fields: Fields, around: Fields) -> String {
        let message = fields.0.shift_remove(MESSAGE).unwrap_or_default();
        let level = metadata.level().as_str().to_lowercase();
        let mut line = Map::new();
        line.insert("time".to_owned(), SystemClock.now().to_string().into());
        line.insert("level".to_owned(), level.into());
        line.insert("target".to_owned(), metadata.target().into());
        line.insert(MESSAGE.to_owned(), message);
        for (name, value) in around.0.into_iter().chain(fields.0) {
            if !OWN.contains(&name.as_str()) {
                line.insert(name, value);
            }
        }
        for value in line.values_mut() {
            // Before it is written, since writing changes what has quotes in it.
            if let Value::String(text) = value {
                self.secrets.redact_text(text);
            }
        }
        Value::Object(line).to_string()
    }
}

/// The fields of an event or a span.
#[derive(Clone, Debug, Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // Writing into a string fails only when the value itself refuses to be written.
        if write!(text, "{value:?}").is_err() {
            text.push('?');
        }
        self.record_str(field, &text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let end = value.floor_char_boundary(LONGEST.min(value.len()));
        self.put(field, &value[..end]);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}
