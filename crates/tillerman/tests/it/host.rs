//! A host as small as can be: every WebSocket is a session of its own in this process.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tillerman::transport::{Launch, session_order};
use tillerman_assembly::{Parts, Session, SessionEnd, assemble, run};
use tillerman_protocol::open::{ClientMessage, HostMessage, OPEN_PATH, OpenRequest};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const LARGEST: usize = 64 << 20;
/// The token the host knows.
pub(crate) const TOKEN: &str = "open-sesame";

/// A host that stops when it is dropped.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    _tasks: JoinSet<()>,
}

pub(crate) async fn start() -> Host {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route(OPEN_PATH, get(open));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
    Host { address, _tasks: tasks }
}

async fn open(headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    let wanted = format!("Bearer {TOKEN}");
    if headers.get("authorization").is_none_or(|token| token != wanted.as_str()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let upgrade = upgrade.max_message_size(LARGEST).max_frame_size(LARGEST);
    upgrade.on_upgrade(attend)
}

async fn attend(mut socket: WebSocket) {
    let Some(Ok(Message::Text(first))) = socket.recv().await else { return };
    let Ok(ClientMessage::Open { options }) = serde_json::from_str(&first) else { return };
    match begin(options).await {
        Ok(session) => converse(socket, session).await,
        Err(refused) => say(&mut socket, &refused).await,
    }
}

async fn begin(request: OpenRequest) -> Result<Session, HostMessage> {
    let mut launch = Launch::default();
    launch.arguments = request.args;
    launch.cwd = request.cwd.map(Into::into);
    launch.environment = request.env;
    launch.bare_environment = true;
    let refused = |error: String, code: &str| {
        let is_unknown = error.contains("No conversation found");
        let code = if is_unknown { "session_not_found" } else { code };
        HostMessage::Refused { error, code: Some(code.to_owned()) }
    };
    let order = session_order(&launch);
    let mut order = order.map_err(|error| refused(error.to_string(), "unsupported"))?;
    order.parts = Parts { stage_program: Some(crate::world::program()), ..Parts::default() };
    let setup = assemble(&order, CancellationToken::new()).await;
    Ok(run(setup.map_err(|failure| refused(failure.message, "invalid_options"))?))
}

async fn converse(mut socket: WebSocket, session: Session) {
    let Session { handle, mut frames, mut ended, .. } = session;
    let mut end: Option<SessionEnd> = None;
    loop {
        tokio::select! {
            over = &mut ended, if end.is_none() => end = Some(over),
            frame = frames.recv() => match frame {
                Some(frame) => say(&mut socket, &frame).await,
                None => break,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(ClientMessage::EndInput) => drop(handle.close().await),
                    _ => drop(handle.send_line(text.as_bytes()).await),
                },
                // Whoever closes the connection waits until the session is gone.
                Some(Ok(Message::Close(_)) | Err(_)) | None => {
                    drop(handle.shut_down());
                    break;
                }
                Some(Ok(_)) => {}
            },
        }
    }
    let end = match end {
        Some(end) => end,
        None => {
            let unheard = async { while frames.recv().await.is_some() {} };
            tokio::join!(ended, unheard).0
        }
    };
    let exit_code = i32::from(end.last_result_failed);
    say(&mut socket, &HostMessage::Closed { exit_code }).await;
}

async fn say(socket: &mut WebSocket, what: &impl serde::Serialize) {
    let text = serde_json::to_string(what).unwrap();
    drop(socket.send(Message::Text(text.into())).await);
}
