//! A collector of traces on loopback, for tests of whoever sends some.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const LARGEST_BODY: usize = 64 << 20;

/// A collector that speaks OTLP over HTTP. It stops when it is dropped.
#[derive(Debug)]
pub struct TraceCollector {
    address: SocketAddr,
    shared: Arc<Mutex<Collected>>,
    _listener: JoinSet<io::Result<()>>,
}

#[derive(Debug, Default)]
struct Collected {
    posts: Vec<CollectedPost>,
    refusals: Vec<u16>,
}

/// One request to a collector.
#[derive(Clone, Debug)]
pub struct CollectedPost {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// A span that came as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectedSpan {
    /// What was done.
    pub name: String,
    /// The trace, in hexadecimal digits.
    pub trace: String,
    /// The span, in hexadecimal digits.
    pub span: String,
    /// The span above, in hexadecimal digits; empty when there is none.
    pub parent: String,
    /// The number of its kind.
    pub kind: u64,
    /// How long it took, in nanoseconds.
    pub nanos: u64,
    /// Its attributes as plain values.
    pub attributes: Map<String, Value>,
    /// Whether it failed.
    pub failed: bool,
}

impl TraceCollector {
    /// Starts a collector on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When no port can be opened.
    ///
    /// # Cancel safety
    /// Nothing is left behind when the future is dropped.
    #[expect(clippy::panic, reason = "a test cannot go on without its collector")]
    pub async fn start() -> Self {
        match Self::try_start().await {
            Ok(collector) => collector,
            Err(error) => panic!("cannot start a collector on 127.0.0.1: {error}"),
        }
    }

    async fn try_start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Mutex::default());
        let app = Router::new()
            .route("/v1/traces", post(take))
            .layer(DefaultBodyLimit::max(LARGEST_BODY))
            .with_state(Arc::clone(&shared));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await });
        Ok(Self { address, shared, _listener: tasks })
    }

    /// The base address, to which senders add `/v1/traces`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Has the next requests refused with these statuses, one each.
    pub fn refuse(&self, statuses: &[u16]) {
        lock(&self.shared).refusals.extend_from_slice(statuses);
    }

    /// Every request that was taken.
    #[must_use]
    pub fn posts(&self) -> Vec<CollectedPost> {
        lock(&self.shared).posts.clone()
    }

    /// Every span that came as JSON.
    #[must_use]
    pub fn spans(&self) -> Vec<CollectedSpan> {
        let posts = self.posts();
        let bodies = posts.iter().filter_map(|post| serde_json::from_slice(&post.body).ok());
        bodies.flat_map(|body: Value| spans_of(&body)).collect()
    }
}

async fn take(
    State(shared): State<Arc<Mutex<Collected>>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let mut collected = lock(&shared);
    if !collected.refusals.is_empty() {
        let status = collected.refusals.remove(0);
        return StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    }
    collected.posts.push(CollectedPost { headers, body });
    StatusCode::OK
}

fn lock(shared: &Mutex<Collected>) -> MutexGuard<'_, Collected> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spans_of(body: &Value) -> Vec<CollectedSpan> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let scopes = list(&body["resourceSpans"]).into_iter();
    let scopes = scopes.flat_map(|resource| list(&resource["scopeSpans"]));
    scopes.flat_map(|scope| list(&scope["spans"])).map(|span| read_span(&span)).collect()
}

fn read_span(span: &Value) -> CollectedSpan {
    let text = |name: &str| span[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| text(name).parse::<u64>().unwrap_or_default();
    let attributes = span["attributes"].as_array().cloned().unwrap_or_default();
    let attribute = |it: &Value| Some((it["key"].as_str()?.to_owned(), plain(&it["value"])));
    CollectedSpan {
        name: text("name"),
        trace: text("traceId"),
        span: text("spanId"),
        parent: text("parentSpanId"),
        kind: span["kind"].as_u64().unwrap_or_default(),
        nanos: number("endTimeUnixNano").saturating_sub(number("startTimeUnixNano")),
        attributes: attributes.iter().filter_map(attribute).collect(),
        failed: span["status"]["code"] == 2,
    }
}

/// A value without the name of its kind around it.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|value| value.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        "intValue" => inner.as_str().and_then(|text| text.parse::<i64>().ok()).into(),
        "arrayValue" => {
            let values = inner["values"].as_array().cloned().unwrap_or_default();
            values.iter().map(plain).collect()
        }
        _ => inner.clone(),
    }
}
