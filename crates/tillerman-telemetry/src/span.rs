//! A span and what it is made of.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

use tillerman_protocol::Moment;

/// Names a trace.
pub(crate) type TraceId = [u8; 16];
/// Names a span within its trace.
pub(crate) type SpanId = [u8; 8];

/// Where a span stands, as much as spans below it need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
}

/// One thing that was done, from its beginning to its end.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) place: Place,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: Moment,
    pub(crate) end: Moment,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    /// What went wrong, when something did; empty when there is nothing to say about it.
    pub(crate) failure: Option<String>,
}

/// Whether the work was done here or by somebody who was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Here.
    Internal,
    /// By somebody who was asked.
    Client,
}

impl Kind {
    /// The number of the kind in the protocol.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Internal => 1,
            Self::Client => 3,
        }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
    Amount(f64),
    Texts(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl Span {
    /// A span that begins now, below another one or as the first of a trace.
    pub(crate) fn begin(parent: Option<Place>, name: String, kind: Kind, at: Moment) -> Self {
        let trace = parent.map_or_else(random_trace, |parent| parent.trace);
        Self {
            place: Place { trace, span: random_span() },
            parent: parent.map(|parent| parent.span),
            name,
            kind,
            start: at,
            end: at,
            attributes: Vec::new(),
            failure: None,
        }
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.attributes.push((name, value.into()));
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(held, _)| *held == name)
    }

    /// Says that it failed, and of what kind the failure is.
    pub(crate) fn fail(&mut self, kind: &str, message: impl Into<String>) {
        self.set("error.type", kind);
        self.failure = Some(message.into());
    }
}

/// Nanoseconds since the Unix epoch.
pub(crate) fn nanos(moment: Moment) -> u64 {
    u64::try_from(moment.as_millis()).unwrap_or(0).saturating_mul(1_000_000)
}

fn random_trace() -> TraceId {
    let [first, second] = [random(), random()].map(u64::to_be_bytes);
    let mut trace = [0; 16];
    trace[..8].copy_from_slice(&first);
    trace[8..].copy_from_slice(&second);
    trace
}

fn random_span() -> SpanId {
    random().to_be_bytes()
}

/// Ids need to be different, not secret: the keys of hash tables are random and cannot run out.
fn random() -> u64 {
    RandomState::new().build_hasher().finish().max(1)
}
