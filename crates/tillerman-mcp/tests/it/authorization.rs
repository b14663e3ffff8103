//! An authorization server, the servers it protects, and a browser, all on the loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::remote::{newer, older};

type Fields = BTreeMap<String, String>;

/// The secret of clients that get one.
pub(crate) const SECRET: &str = "client-secret";

/// What the authorization server knows.
#[derive(Default)]
pub(crate) struct Office {
    pub(crate) url: String,
    /// What authorizations asked for.
    pub(crate) asked: Vec<Fields>,
    /// What was exchanged for tokens.
    pub(crate) exchanged: Vec<Fields>,
    pub(crate) registered: Vec<Value>,
    /// Access tokens that protected servers accept.
    pub(crate) valid: BTreeSet<String>,
    refresh: Option<String>,
    /// Seconds that tokens are good for.
    pub(crate) lifetime: u64,
    /// Whether clients get a secret, which they then need.
    pub(crate) gives_secrets: bool,
    /// Whether protected servers accept no token at all.
    pub(crate) refuses: bool,
    /// How often tokens were given.
    pub(crate) count: u32,
    /// Where the protected servers are stricter or laxer than most.
    pub(crate) conduct: Conduct,
    /// The scopes that tokens were given for.
    granted: BTreeMap<String, String>,
}

/// How protected servers treat requests, beyond wanting a token for each.
#[derive(Clone, Default)]
pub(crate) struct Conduct {
    /// Only answers to requests of the protocol say where tokens come from.
    pub(crate) is_terse: bool,
    /// The scope that challenges name.
    pub(crate) names_scope: Option<&'static str>,
    /// Methods that need no token.
    pub(crate) free: &'static [&'static str],
    /// A method that needs a token for this scope.
    pub(crate) strict: Option<(&'static str, &'static str)>,
    /// Where people are sent to sign in, when it is not here.
    pub(crate) authorizes_at: Option<String>,
}

pub(crate) type Shared = Arc<Mutex<Office>>;

/// Starts an authorization server that protects `/mcp` and `/sse`.
pub(crate) async fn office(lifetime: u64, gives_secrets: bool) -> (Shared, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let office = Office { url, lifetime, gives_secrets, ..Office::default() };
    let office: Shared = Arc::new(Mutex::new(office));
    let (older, _) = older();
    let protected = newer().merge(older).layer(from_fn_with_state(Arc::clone(&office), protect));
    let router = Router::new()
        .route("/.well-known/oauth-protected-resource", get(known_resource))
        .route("/elsewhere", get(resource))
        .route("/.well-known/oauth-authorization-server", get(known_metadata))
        .route("/.well-known/oauth-authorization-server/issuer", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .with_state(Arc::clone(&office))
        .merge(protected);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (office, tasks)
}

async fn protect(State(office): State<Shared>, request: Request<Body>, next: Next) -> Response {
    let sent = request.headers().get("authorization").and_then(|it| it.to_str().ok());
    let token = sent.and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default().to_owned();
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refusal = office.lock().unwrap().refusal(&token, message["method"].as_str());
    match refusal {
        Some((StatusCode::METHOD_NOT_ALLOWED, _)) => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        Some((status, challenge)) => (status, [("www-authenticate", challenge)]).into_response(),
        None => next.run(Request::from_parts(parts, Body::from(body))).await,
    }
}

impl Office {
    fn issuer(&self) -> String {
        if self.conduct.is_terse { format!("{}/issuer", self.url) } else { self.url.clone() }
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, token: &str, method: Option<&str>) -> Option<(StatusCode, String)> {
        let Conduct { is_terse, names_scope, free, strict, .. } = self.conduct.clone();
        if method.is_some_and(|method| free.contains(&method)) {
            return None;
        }
        let place = if is_terse { "elsewhere" } else { ".well-known/oauth-protected-resource" };
        let mut challenge = format!("Bearer resource_metadata=\"{}/{place}\"", self.url);
        if self.refuses || !self.valid.contains(token) {
            if is_terse && method.is_none() {
                return Some((StatusCode::METHOD_NOT_ALLOWED, String::new()));
            }
            challenge.extend(names_scope.map(|scope| format!(", scope=\"{scope}\"")));
            return Some((StatusCode::UNAUTHORIZED, challenge));
        }
        let (_, scope) = strict.filter(|(strict, _)| method == Some(*strict))?;
        let granted = self.granted.get(token).map(String::as_str).unwrap_or_default();
        let is_granted = granted.split_whitespace().any(|it| it == scope);
        let more = format!("{challenge}, error=\"insufficient_scope\", scope=\"{scope}\"");
        (!is_granted).then_some((StatusCode::FORBIDDEN, more))
    }
}

/// What lies where everybody looks, unless the server tells only who asks it.
async fn known(office: &Shared, document: Json<Value>) -> Response {
    if office.lock().unwrap().conduct.is_terse {
        return StatusCode::NOT_FOUND.into_response();
    }
    document.into_response()
}

async fn known_resource(State(office): State<Shared>) -> Response {
    known(&office, resource(State(Arc::clone(&office))).await).await
}

async fn known_metadata(State(office): State<Shared>) -> Response {
    known(&office, metadata(State(Arc::clone(&office))).await).await
}

async fn resource(State(office): State<Shared>) -> Json<Value> {
    let office = office.lock().unwrap();
    Json(json!({"resource": format!("{}/", office.url), "authorization_servers": [office.issuer()],
        "scopes_supported": ["notes"]}))
}

async fn metadata(State(office): State<Shared>) -> Json<Value> {
    let office = office.lock().unwrap();
    let url = &office.url;
    let authorize = office.conduct.authorizes_at.clone();
    let authorize = authorize.unwrap_or_else(|| format!("{url}/authorize"));
    Json(json!({"issuer": office.issuer(), "authorization_endpoint": authorize,
        "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}))
}

async fn register(State(office): State<Shared>, Json(wish): Json<Value>) -> Json<Value> {
    let mut office = office.lock().unwrap();
    office.registered.push(wish.clone());
    let secret = office.gives_secrets.then_some(SECRET);
    Json(json!({"client_id": "client-1", "client_secret": secret,
        "redirect_uris": wish["redirect_uris"]}))
}

/// Everybody who asks is let in; a scope of `nothing` is refused.
async fn authorize(State(office): State<Shared>, uri: Uri) -> Response {
    let asked = fields(uri.query().unwrap_or_default());
    let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
    back.query_pairs_mut().append_pair("state", &asked["state"]);
    if asked.get("scope").is_some_and(|scope| scope == "nothing") {
        back.query_pairs_mut().append_pair("error", "access_denied");
    } else {
        back.query_pairs_mut().append_pair("code", "code-1");
    }
    office.lock().unwrap().asked.push(asked);
    (StatusCode::FOUND, [("location", back.to_string())]).into_response()
}

async fn token(State(office): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let mut office = office.lock().unwrap();
    let sent = fields(&body);
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("client-1:{SECRET}")));
    let is_client = if office.gives_secrets {
        headers.get("authorization").is_some_and(|it| it == basic.as_str())
    } else {
        sent.get("client_id").is_some_and(|it| it == "client-1")
    };
    let is_good = is_client
        && match sent["grant_type"].as_str() {
            "authorization_code" => {
                let proof = Sha256::digest(sent["code_verifier"].as_bytes());
                let asked = office.asked.last().unwrap();
                sent["code"] == "code-1"
                    && asked["code_challenge"] == BASE64_URL_SAFE_NO_PAD.encode(proof)
                    && asked["redirect_uri"] == sent["redirect_uri"]
            }
            _ => sent.get("refresh_token") == office.refresh.as_ref(),
        };
    office.exchanged.push(sent);
    if !is_good {
        let why = json!({"error": "invalid_grant"});
        return (StatusCode::BAD_REQUEST, Json(why)).into_response();
    }
    // Each refresh token is good for one renewal, as many servers have it.
    office.count += 1;
    let (access, refresh) =
        (format!("access-{}", office.count), format!("refresh-{}", office.count));
    office.valid.insert(access.clone());
    let scope = office.asked.last().and_then(|asked| asked.get("scope").cloned());
    office.granted.insert(access.clone(), scope.unwrap_or_default());
    office.refresh = Some(refresh.clone());
    Json(json!({"access_token": access, "token_type": "Bearer", "refresh_token": refresh,
        "expires_in": office.lifetime}))
    .into_response()
}

fn fields(text: &str) -> Fields {
    let url = Url::parse(&format!("http://x/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// Asks for an address as a browser does; the result is the whole answer.
pub(crate) async fn visit(url: &str) -> String {
    let url = Url::parse(url).unwrap();
    let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(&host).await.unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Where the authorization server sends a browser back to.
pub(crate) async fn sent_back(url: &str) -> String {
    let answer = visit(url).await;
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("{answer}")).trim().to_owned()
}
