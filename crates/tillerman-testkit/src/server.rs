//! The scripted server itself: listens on loopback, captures, judges and answers.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::fault::{self, StatusFault};
use crate::journal::{Journal, Outcome, Verdict};
use crate::plan;
use crate::play::{self, Closing, OutcomeNote};
use crate::reply::Reply;
use crate::request::CapturedRequest;
use crate::script::Script;
use crate::validate;

const LARGEST_BODY: usize = 64 << 20;

/// A Messages API on loopback that plays a script. It stops when it is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    journal: Arc<Journal>,
    closing: watch::Sender<bool>,
    _listener: JoinSet<io::Result<()>>,
}

#[derive(Clone, Debug)]
struct Shared {
    journal: Arc<Journal>,
    closing: Closing,
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When no port can be opened.
    ///
    /// # Cancel safety
    /// Nothing is left behind when the future is dropped.
    #[expect(clippy::panic, reason = "a test cannot go on without its server")]
    pub async fn start(script: impl Into<Script>) -> Self {
        match Self::try_start(script).await {
            Ok(server) => server,
            Err(error) => panic!("cannot start a scripted server on 127.0.0.1: {error}"),
        }
    }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    ///
    /// # Cancel safety
    /// Nothing is left behind when the future is dropped.
    pub async fn try_start(script: impl Into<Script>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        // Without this, small events wait for the client's delayed acknowledgements.
        let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
        let journal = Arc::new(Journal::new(script.into()));
        let closing = watch::Sender::new(false);
        let shared = Shared { journal: Arc::clone(&journal), closing: closing.subscribe() };
        let app = Router::new()
            .route("/v1/messages", post(answer))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .fallback(unknown)
            .layer(DefaultBodyLimit::max(LARGEST_BODY))
            .with_state(shared);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await });
        Ok(Self { address, journal, closing, _listener: tasks })
    }

    /// The base address to give to the agent, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All message requests so far, in order of arrival, refused ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<CapturedRequest> {
        self.journal.requests()
    }

    /// The message request with this number, counted from 0.
    ///
    /// # Panics
    /// When there were fewer requests.
    #[must_use]
    #[expect(clippy::panic, reason = "an assertion about the agent's requests")]
    pub fn request(&self, number: usize) -> CapturedRequest {
        let mut requests = self.requests();
        if number >= requests.len() {
            panic!("request {number} was asked for, but only {} arrived", requests.len());
        }
        requests.swap_remove(number)
    }

    /// The only message request.
    ///
    /// # Panics
    /// Unless there was exactly one.
    #[must_use]
    #[expect(clippy::panic, reason = "an assertion about the agent's requests")]
    pub fn single_request(&self) -> CapturedRequest {
        let arrived = self.requests().len();
        if arrived != 1 {
            panic!("exactly one request was expected, but {arrived} arrived");
        }
        self.request(0)
    }

    /// Requests to any other address, such as token counts, in order of arrival.
    #[must_use]
    pub fn other_requests(&self) -> Vec<CapturedRequest> {
        self.journal.others()
    }

    /// What the model saw in request `number`, one line per item: role, kind and shortened text.
    ///
    /// # Panics
    /// When there were fewer requests.
    #[must_use]
    pub fn render_context(&self, number: usize) -> String {
        self.request(number).render_context()
    }

    /// What went wrong so far: requests that the real API would refuse, and requests for which
    /// the script had no reply.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.journal.problems()
    }

    /// How many replies of the script nobody has asked for so far.
    #[must_use]
    pub fn left_over(&self) -> usize {
        self.journal.left_over()
    }

    /// The first request that changed what an earlier one of its conversation had sent.
    #[must_use]
    pub fn prefix_violation(&self) -> Option<String> {
        self.journal.prefix_violation()
    }

    /// How the reply to request `number` ended so far.
    ///
    /// # Panics
    /// When there were fewer requests.
    #[must_use]
    #[expect(clippy::panic, reason = "an assertion about the agent's requests")]
    pub fn outcome(&self, number: usize) -> Outcome {
        match self.journal.outcome(number) {
            Some(outcome) => outcome,
            None => panic!("the outcome of request {number} was asked for, but it never arrived"),
        }
    }

    /// Waits until this many message requests have arrived.
    ///
    /// # Panics
    /// When they do not arrive within ten seconds.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait_for_requests(&self, count: usize) {
        let what = format!("{count} requests to arrive");
        self.journal.until(&what, |journal| journal.requests().len() >= count).await;
    }

    /// Waits until the reply to request `number` has ended, and says how.
    ///
    /// # Panics
    /// When it does not end within ten seconds.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait_for_outcome(&self, number: usize) -> Outcome {
        let ended = |journal: &Journal| {
            journal.outcome(number).is_some_and(|outcome| outcome != Outcome::Open)
        };
        self.journal.until(&format!("the reply to request {number} to end"), ended).await;
        self.outcome(number)
    }

    /// Asserts that every request of a conversation repeats what its predecessor sent and only
    /// adds to it, cache breakpoints aside. Replies with `moves_prefix` are exempt.
    ///
    /// # Panics
    /// When a request changes what was sent before.
    #[expect(clippy::panic, reason = "an assertion about the agent's requests")]
    pub fn assert_prefix_stable(&self) {
        if let Some(violation) = self.prefix_violation() {
            panic!("the prompt cache would be lost: {violation}");
        }
    }

    /// Asserts what every good test ends with: no problems, a stable prefix, and no reply left.
    ///
    /// # Panics
    /// When one of these does not hold.
    #[expect(clippy::panic, reason = "an assertion about the agent's requests")]
    pub fn verify(&self) {
        let problems = self.problems();
        if !problems.is_empty() {
            panic!("the scripted server met problems:\n{}", problems.join("\n"));
        }
        self.assert_prefix_stable();
        let left = self.left_over();
        if left > 0 {
            panic!("{left} replies of the script were never asked for");
        }
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.closing.send_replace(true);
    }
}

async fn answer(
    State(mut shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    let mut request = capture(&method, &uri, &headers, &body);
    request.problems = validate::problems(&request.headers, &request.body);
    let (number, verdict) = shared.journal.admit(request.clone());
    let mut note = OutcomeNote::new(Arc::clone(&shared.journal), number);
    let reply = match verdict {
        Verdict::Play(reply) => reply,
        Verdict::Refuse(why) => fault::status(400).message(why).into(),
        Verdict::Exhausted(why) => fault::status(500).message(why).says_do_not_retry().into(),
    };
    if let Some(gate) = reply.hold_before()
        && !play::pass(gate, &mut shared.closing).await
    {
        note.set(Outcome::Broken);
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let request_id = [("request-id", format!("req_{number:04}"))];
    match reply {
        Reply::Status(fault) => {
            note.set(Outcome::Complete);
            (request_id, failure(&fault)).into_response()
        }
        Reply::Response(response) => {
            let streams = request.body["stream"] == true;
            let (kind, steps) = if streams || response.raw_body.is_some() {
                ("text/event-stream; charset=utf-8", plan::stream(number, &request, &response))
            } else {
                ("application/json", plan::whole(number, &request, &response))
            };
            let body = play::body(steps, note, shared.closing);
            ([("content-type", kind)], request_id, body).into_response()
        }
    }
}

async fn count_tokens(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    shared.journal.note_other(capture(&method, &uri, &headers, &body));
    axum::Json(json!({ "input_tokens": body.len().div_ceil(4) })).into_response()
}

async fn unknown(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    shared.journal.note_other(capture(&method, &uri, &headers, &body));
    failure(&fault::status(404).message(format!("nothing is scripted for {method} {uri}")))
}

fn failure(fault: &StatusFault) -> HttpResponse {
    let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(fault.body())).into_response();
    for (name, value) in &fault.headers {
        if let (Ok(name), Ok(value)) =
            (name.parse::<axum::http::HeaderName>(), value.parse::<axum::http::HeaderValue>())
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn capture(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> CapturedRequest {
    let headers = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    CapturedRequest {
        method: method.to_string(),
        path: uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
        problems: Vec::new(),
    }
}
