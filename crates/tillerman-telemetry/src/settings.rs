//! What the environment says about traces, in the variables that every OpenTelemetry program reads.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::span::Place;

const SERVICE: &str = "tillerman";
const PATH: &str = "v1/traces";
const TIMEOUT: Duration = Duration::from_secs(10);
const DELAY: Duration = Duration::from_secs(5);
const QUEUE: usize = 2_048;
const LARGEST_QUEUE: usize = 65_536;
const BATCH: usize = 512;

/// Everything that is to be known about where traces go.
#[derive(Clone)]
pub struct TelemetrySettings {
    pub(crate) endpoint: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) protocol: Protocol,
    pub(crate) timeout: Duration,
    /// How long spans wait for others before they are sent.
    pub(crate) delay: Duration,
    pub(crate) queue: usize,
    pub(crate) batch: usize,
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) capture: Capture,
    pub(crate) parent: Option<Parent>,
}

/// How spans are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `http/protobuf`.
    Protobuf,
    /// `http/json`.
    Json,
}

/// Whether spans hold what was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capture {
    /// Names and numbers only.
    #[default]
    Nothing,
    /// Prompts, answers, inputs and outputs of tools as well.
    Content,
}

/// The span of another program that the traces of this one belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    pub(crate) place: Place,
    is_sampled: bool,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The endpoint is not an address that can be posted to.
    #[error("{0} is not an http:// or https:// address")]
    BadEndpoint(&'static str),
    /// Spans cannot be written like that.
    #[error("traces can be sent as http/protobuf or http/json, not as {0}")]
    BadProtocol(String),
    /// A header cannot be sent.
    #[error("{0} is not a list such as name=value,name=value")]
    BadHeaders(&'static str),
}

impl TelemetrySettings {
    /// Reads the variables; nothing when no traces are wanted.
    ///
    /// # Errors
    /// When they are wanted and the variables make no sense.
    pub fn read(
        variable: impl Fn(&str) -> Option<String>,
        version: &str,
    ) -> Result<Option<Self>, SettingsError> {
        let is = |name: &str, wanted: &str| {
            variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(wanted))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let Some(endpoint) = endpoint(&variable)? else { return Ok(None) };
        let parent = variable("TRACEPARENT").and_then(|text| Parent::parse(&text));
        if parent.is_some_and(|parent| !parent.is_sampled) {
            return Ok(None);
        }
        let millis = |name: &str| {
            let number = variable(name)?.trim().parse().ok()?;
            Some(Duration::from_millis(number))
        };
        let count = |name: &str, usual: usize, most: usize| {
            let number = variable(name).and_then(|text| text.trim().parse().ok());
            number.unwrap_or(usual).clamp(1, most)
        };
        let queue = count("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE, LARGEST_QUEUE);
        let timeout = millis("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT");
        let content = is("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
        Ok(Some(Self {
            endpoint,
            headers: headers(&variable)?,
            protocol: protocol(&variable)?,
            timeout: timeout.or_else(|| millis("OTEL_EXPORTER_OTLP_TIMEOUT")).unwrap_or(TIMEOUT),
            delay: millis("OTEL_BSP_SCHEDULE_DELAY").unwrap_or(DELAY),
            queue,
            batch: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH, queue),
            resource: resource(&variable, version),
            capture: if content { Capture::Content } else { Capture::Nothing },
            parent,
        }))
    }

    /// Where traces go, as it may be shown: without user, password and query.
    #[must_use]
    pub fn shown_endpoint(&self) -> String {
        let mut url = self.endpoint.clone();
        // Only addresses without a host refuse these, and such are refused before.
        let _refused = url.set_username("").is_err() || url.set_password(None).is_err();
        url.set_query(None);
        url.to_string()
    }

    /// The values of headers, which are usually credentials.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let values = self.headers.values().filter_map(|value| value.to_str().ok());
        values.map(str::to_owned).collect()
    }
}

/// Says where traces go and never with which credentials.
impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.shown_endpoint();
        f.debug_struct("TelemetrySettings").field("endpoint", &endpoint).finish_non_exhaustive()
    }
}

impl Parent {
    /// Reads the text form of the W3C trace context.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Later versions may have more parts; the first one has exactly four.
        if version.len() != 2 || version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let place = Place { trace: hex(trace)?, span: hex(span)? };
        let [flags] = hex::<1>(flags)?;
        let is_valid = place.trace != [0; 16] && place.span != [0; 8];
        is_valid.then_some(Self { place, is_sampled: flags & 1 == 1 })
    }
}

fn hex<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let is_lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != LENGTH * 2 || !text.bytes().all(is_lower) {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(place * 2..place * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn endpoint(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Url>, SettingsError> {
    let whole = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    let base = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let read = |name: &'static str, text: &str| {
        let url = Url::parse(text.trim()).ok();
        url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or(SettingsError::BadEndpoint(name))
    };
    if let Some(text) = variable(whole) {
        return read(whole, &text).map(Some);
    }
    let Some(text) = variable(base) else { return Ok(None) };
    let mut url = read(base, &text)?;
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(PATH.split('/'));
    }
    Ok(Some(url))
}

fn protocol(variable: &impl Fn(&str) -> Option<String>) -> Result<Protocol, SettingsError> {
    let told = variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
    let told = told.or_else(|| variable("OTEL_EXPORTER_OTLP_PROTOCOL")).unwrap_or_default();
    match told.trim() {
        "" | "http/protobuf" => Ok(Protocol::Protobuf),
        "http/json" => Ok(Protocol::Json),
        other => Err(SettingsError::BadProtocol(other.to_owned())),
    }
}

fn headers(variable: &impl Fn(&str) -> Option<String>) -> Result<HeaderMap, SettingsError> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
    let Some((source, text)) = names.iter().find_map(|name| Some((*name, variable(name)?))) else {
        return Ok(HeaderMap::new());
    };
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(&text) {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_str(&value);
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(SettingsError::BadHeaders(source));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn resource(variable: &impl Fn(&str) -> Option<String>, version: &str) -> Vec<(String, String)> {
    let told = pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
    let service = variable("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name));
    let usual = [
        ("service.name", SERVICE),
        ("service.version", version),
        ("telemetry.sdk.name", SERVICE),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", version),
    ];
    let mut all: Vec<(String, String)> = Vec::new();
    let usual = usual.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (name, value) in service.into_iter().chain(told).chain(usual) {
        // The first to say something about a name is the one who knows best.
        if !all.iter().any(|(held, _)| *held == name) {
            all.push((name, value));
        }
    }
    all
}

/// A list such as `name=value,name=value`, with percent signs for what cannot stand in it.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), decode(value.trim())))
    };
    text.split(',').filter_map(pair).collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match (first, decoded) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                &after[2..]
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
