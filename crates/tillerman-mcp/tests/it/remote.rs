//! Servers behind HTTP, on the loopback.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use axum::response::sse::{Event, Sse};
use axum::routing::{any, get};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    Tool as ListedTool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::stage::{hub, limits, named};

#[derive(Clone, Default)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> InitializeResult {
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().unwrap().clone();
        Ok(ListToolsResult::with_all_items(vec![ListedTool::new("echo", "", Arc::new(schema))]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = Value::Object(request.arguments.unwrap_or_default()).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Serves a router on the loopback until the set is dropped.
pub(crate) async fn served(router: Router) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, tasks)
}

/// The newer transport, at `/mcp`.
pub(crate) fn newer() -> Router {
    let service: StreamableHttpService<Echo, LocalSessionManager> = StreamableHttpService::new(
        || Ok(Echo),
        Arc::default(),
        StreamableHttpServerConfig::default(),
    );
    Router::new().nest_service("/mcp", service)
}

#[tokio::test]
async fn a_streamable_http_server_is_called() {
    let (url, _tasks) = served(newer()).await;
    let config = json!({"type": "http", "url": format!("{url}/mcp")});
    let stage = hub(vec![named("s", config)], limits());
    stage.ready().await;
    assert_eq!(stage.status("s").error, None);
    assert_eq!(stage.text("echo", json!({"t": 1})).await, r#"{"t":1}"#);
    stage.end().await;
}

#[tokio::test]
async fn failures_of_remote_servers_are_named() {
    let router = Router::new()
        .route("/closed", any(|| async { StatusCode::UNAUTHORIZED }))
        .route(
            "/challenge",
            any(|| async { (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")]) }),
        )
        .route("/page", any(|| async { "<html>hello</html>" }));
    let (url, _tasks) = served(router).await;
    let at = |path: &str| json!({"type": "http", "url": format!("{url}{path}")});
    let servers = vec![
        named("challenge", at("/challenge")),
        named("page", at("/page")),
        named("nobody", json!({"type": "http", "url": "http://127.0.0.1:9/mcp"})),
        named("silly", json!({"type": "http", "url": "ftp://x"})),
        named("stream", json!({"type": "sse", "url": format!("{url}/closed")})),
    ];
    let stage = hub(servers, limits());
    stage.ready().await;
    let states: BTreeMap<String, (String, String)> =
        ["challenge", "page", "nobody", "silly", "stream"]
            .map(|name| {
                (name.to_owned(), (stage.status(name).status, stage.status(name).error.unwrap()))
            })
            .into();
    for name in ["challenge", "stream"] {
        assert_eq!(states[name].0, "needs-auth", "{states:?}");
    }
    for name in ["page", "nobody", "silly"] {
        assert_eq!(states[name].0, "failed", "{states:?}");
    }
    assert_eq!(states["silly"].1, "ftp://x is not an http:// or https:// address");
    for name in ["challenge", "stream"] {
        assert!(states[name].1.contains("tillerman mcp login"), "{states:?}");
    }
    assert!(states["nobody"].1.starts_with("it cannot be reached"), "{states:?}");
    stage.end().await;
}

type Outbox = Arc<Mutex<Option<mpsc::Sender<String>>>>;

/// The older transport: answers come over the stream, messages over another address.
pub(crate) fn older() -> (Router, Arc<Mutex<Vec<HeaderMap>>>) {
    let outbox = Outbox::default();
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let headers = Arc::clone(&seen);
    let stream = move |State(outbox): State<Outbox>, sent: HeaderMap| async move {
        headers.lock().unwrap().push(sent);
        let (sender, mut messages) = mpsc::channel::<String>(8);
        *outbox.lock().unwrap() = Some(sender);
        let first = Event::default().event("endpoint").data("/messages?id=1");
        let (event, events) = mpsc::channel::<Result<Event, Infallible>>(8);
        event.try_send(Ok(first)).unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(message) = messages.recv().await {
                event.send(Ok(Event::default().event("message").data(message))).await.ok();
            }
        });
        tasks.detach_all();
        let events = futures_util::stream::unfold(events, |mut events| async move {
            events.recv().await.map(|event| (event, events))
        });
        Sse::new(events)
    };
    let post = |State(outbox): State<Outbox>, body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap();
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}}, "serverInfo": {"name": "sse", "version": "0"}}),
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "over events"}]}),
            _ => return StatusCode::ACCEPTED.into_response(),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let sender = outbox.lock().unwrap().clone().unwrap();
        sender.send(answer.to_string()).await.unwrap();
        StatusCode::ACCEPTED.into_response()
    };
    let router = Router::new()
        .route("/sse", get(stream))
        .route("/messages", axum::routing::post(post))
        .with_state(outbox);
    (router, seen)
}

#[tokio::test]
async fn a_server_of_the_older_transport_is_called_with_its_headers() {
    let (router, seen) = older();
    let (url, _tasks) = served(router).await;
    let config = json!({"type": "sse", "url": format!("{url}/sse"),
        "headers": {"Authorization": "Bearer secret"}});
    let stage = hub(vec![named("s", config)], limits());
    stage.ready().await;
    assert_eq!(stage.status("s").error, None);
    assert_eq!(stage.text("echo", json!({})).await, "over events");
    assert_eq!(seen.lock().unwrap()[0]["authorization"], "Bearer secret");
    let shown = serde_json::to_string(&stage.status("s")).unwrap();
    assert!(!shown.contains("secret"), "{shown}");
    stage.end().await;
}

#[tokio::test]
async fn a_command_makes_headers_and_its_failure_is_named_without_them() {
    let (router, seen) = older();
    let (url, _tasks) = served(router).await;
    let with = |helper: &str| {
        json!({"type": "sse", "url": format!("{url}/sse"), "headers": {"X-Own": "own"},
            "headersHelper": helper})
    };
    let made = r#"printf '{"Authorization": "Bearer %s"}' "$CLAUDE_CODE_MCP_SERVER_NAME""#;
    let servers = vec![
        named("s", with(made)),
        named("fails", with("echo secret; exit 3")),
        named("odd", with("echo secret")),
    ];
    let stage = hub(servers, limits());
    stage.ready().await;
    assert_eq!(stage.text("echo", json!({})).await, "over events");
    let headers = seen.lock().unwrap()[0].clone();
    assert_eq!(
        (&headers["authorization"], &headers["x-own"]),
        (&"Bearer s".parse().unwrap(), &"own".parse().unwrap())
    );
    assert_eq!(stage.status("fails").error.unwrap(), "its headersHelper failed (exit status: 3)");
    let why = stage.status("odd").error.unwrap();
    assert_eq!(why, "its headersHelper did not print a JSON object of texts");
    stage.end().await;
}
