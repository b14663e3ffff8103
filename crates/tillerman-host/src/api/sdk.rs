//! Sessions for SDKs over a socket: the first message opens one, all others are its frames.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde_json::Value;
use tillerman_protocol::open::{ClientMessage, HostMessage};
use tokio::task::JoinSet;

use crate::access::User;
use crate::api::endpoint::Caller;
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::launch::{LaunchError, OWNER_VARIABLE, OpenOrder, RunEnd, RunningSession};

/// A frame may hold pictures.
const LARGEST_MESSAGE: usize = 64 * 1024 * 1024;
/// How long a client may take to say what it wants.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);
const LONGEST_SEND: Duration = Duration::from_secs(60);
/// Switches that ask for nothing to be asked.
const BYPASSING: [&str; 2] =
    ["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"];
/// Variables that decide where the host's own data and credentials come from.
const RESERVED: [&str; 5] = ["HOME", "PATH", "CLAUDE_CONFIG_DIR", "TILLERMAN_HOME", OWNER_VARIABLE];

pub(crate) async fn sdk(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    if user.role < crate::access::Role::Owner {
        return Err(ApiError::forbidden("Sessions of one's own are for owners of the host."));
    }
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| serve(state, user, socket)))
}

async fn serve(state: Arc<ApiState>, user: User, mut socket: WebSocket) {
    let open_sockets = &state.shared.metrics.sdk_sockets;
    open_sockets.fetch_add(1, Ordering::Relaxed);
    let last = match open(&state, &user, &mut socket).await {
        Ok(session) => match carry(&state, session, &mut socket).await {
            (end, Spoke::Never) if end.exit_code != 0 && !end.message.is_empty() => {
                let code = Some("invalid_options".to_owned());
                HostMessage::Refused { error: end.message, code }
            }
            (end, _) => HostMessage::Closed { exit_code: end.exit_code },
        },
        Err((error, code)) => HostMessage::Refused { error, code: Some(code.to_owned()) },
    };
    send(&mut socket, serde_json::to_string(&last).unwrap_or_default()).await;
    send_close(&mut socket).await;
    open_sockets.fetch_sub(1, Ordering::Relaxed);
}

async fn open(
    state: &ApiState,
    user: &User,
    socket: &mut WebSocket,
) -> Result<RunningSession, (String, &'static str)> {
    let invalid = |text: String| (text, "invalid_options");
    let first = tokio::time::timeout(LONGEST_SILENCE, socket.recv()).await;
    let Ok(Some(Ok(Message::Text(text)))) = first else {
        return Err(invalid("The first message must open a session.".to_owned()));
    };
    let options = match serde_json::from_str(text.as_str()) {
        Ok(ClientMessage::Open { options }) => options,
        Ok(ClientMessage::EndInput) => {
            return Err(invalid("The first message must open a session.".to_owned()));
        }
        Err(error) => {
            return Err(invalid(format!("The first message must open a session: {error}.")));
        }
    };
    let may_bypass = state.shared.settings.may_bypass;
    let bypasses =
        |word: &String| BYPASSING.contains(&word.as_str()) || word.ends_with("bypassPermissions");
    if !may_bypass && options.args.iter().any(bypasses) {
        return Err(invalid(
            "This host has its sessions ask. Start it with --allow-bypass.".to_owned(),
        ));
    }
    if let Some(name) = options.env.keys().find(|name| RESERVED.contains(&name.as_str())) {
        return Err(invalid(format!("{name} is the host's own and cannot be set.")));
    }
    let cwd = options.cwd.map_or_else(|| state.shared.settings.cwd.clone(), PathBuf::from);
    let owner = state.shared.further_owner(&user.name);
    let order = OpenOrder { cwd, arguments: options.args, environment: options.env, owner };
    let opened = state.shared.launcher.open(order).await;
    opened.map_err(|LaunchError { message, session_is_gone }| {
        (message, if session_is_gone { "session_not_found" } else { "invalid_options" })
    })
}

/// Whether a session has said anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoke {
    Never,
    Once,
}

/// Carries frames in both directions until the session ends.
async fn carry(
    state: &ApiState,
    session: RunningSession,
    socket: &mut WebSocket,
) -> (RunEnd, Spoke) {
    let mut spoke = Spoke::Never;
    let RunningSession { inbound, mut outbound, stop, ended } = session;
    let mut inbound = Some(inbound);
    let mut work = JoinSet::new();
    work.spawn(ended);
    loop {
        tokio::select! {
            frame = outbound.recv() => {
                let Some(frame) = frame else { break };
                spoke = Spoke::Once;
                if !send(socket, frame.to_string()).await {
                    stop.cancel();
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => hear(&mut inbound, text.as_str()).await,
                Some(Ok(_)) => {}
                // Nobody is left who could answer; whatever was begun is ended.
                Some(Err(_)) | None => {
                    stop.cancel();
                    break;
                }
            },
            () = state.leaving.cancelled() => {
                stop.cancel();
                break;
            }
        }
    }
    let end = match work.join_next().await {
        Some(Ok(end)) => end,
        Some(Err(_)) | None => RunEnd { exit_code: 1, ..RunEnd::default() },
    };
    (end, spoke)
}

async fn hear(inbound: &mut Option<tokio::sync::mpsc::Sender<Value>>, text: &str) {
    let Ok(frame) = serde_json::from_str::<Value>(text) else {
        return tracing::warn!("a client sent a message that is not JSON");
    };
    if frame["type"] == "end_input" {
        *inbound = None;
    } else if let Some(sender) = inbound
        && sender.send(frame).await.is_err()
    {
        *inbound = None;
    }
}

async fn send(socket: &mut WebSocket, text: String) -> bool {
    let sending = socket.send(Message::Text(text.into()));
    matches!(tokio::time::timeout(LONGEST_SEND, sending).await, Ok(Ok(())))
}

async fn send_close(socket: &mut WebSocket) {
    // A client that is gone needs no goodbye.
    drop(tokio::time::timeout(LONGEST_SILENCE, socket.send(Message::Close(None))).await);
}
