//! What sessions do as OpenTelemetry spans, by the conventions for generative AI, sent over OTLP.
//!
//! A session is watched through the `Observer` port and is never held up: spans go into a queue with
//! a bound, and what does not fit is dropped and counted. Modules are listed in reading order.

mod settings;
mod span;

mod content;
mod response;
mod watch;

mod json;
mod protobuf;

mod client;
mod export;

pub use export::{Exporter, Telemetry, TelemetryCounts, start};
pub use settings::{Capture, Parent, Protocol, SettingsError, TelemetrySettings};
pub use watch::About;
