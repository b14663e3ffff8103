//! The socket: events of conversations and news of the host, for as long as a client keeps up.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::api::error::ApiError;
use crate::api::events::{Followed, Follower};
use crate::api::gate::Visitor;
use crate::api::routes::ApiState;
use crate::live::{Envelope, News};
use crate::metrics::Metrics;

const LARGEST_MESSAGE: usize = 64 * 1024;
/// What is larger than a message may be is read up to here, so that the client learns why it goes.
const LARGEST_FRAME: usize = 1024 * 1024;
/// What a client says is short, and every socket has this much for it all the time.
const READ_BUFFER: usize = 4 * 1024;
const MOST_SUBSCRIPTIONS: usize = 64;
/// Messages that wait for one client.
const OUTGOING: usize = 256;
/// How long a client may take to take one.
const LONGEST_SEND: Duration = Duration::from_secs(15);
/// How long a client that was told to go may take to do so.
const LONGEST_PARTING: Duration = Duration::from_secs(2);
/// Messages a client may send in a second.
const MOST_A_SECOND: u32 = 100;

const NOT_SIGNED_IN: u16 = 4_401;
const TOO_SLOW: u16 = 4_008;
const TOO_LARGE: u16 = 1_009;
const TOO_MANY: u16 = 4_029;
const LEAVING: u16 = 1_001;

pub(crate) async fn socket(
    State(state): State<Arc<ApiState>>,
    visitor: Option<Extension<Visitor>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let upgrade = upgrade
        .max_message_size(LARGEST_FRAME)
        .max_frame_size(LARGEST_FRAME)
        .read_buffer_size(READ_BUFFER);
    if visitor.is_none() {
        return upgrade.on_upgrade(|socket| close(socket, NOT_SIGNED_IN, "sign in first"));
    }
    let Ok(permit) = Arc::clone(&state.sockets).try_acquire_owned() else {
        let text = "Too many clients are connected.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return ApiError::new(status, "too_many_sockets", text).into_response();
    };
    upgrade.on_upgrade(move |socket| Client::new(state, permit).serve(socket))
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    // A client that is gone needs no goodbye.
    drop(tokio::time::timeout(LONGEST_SEND, socket.send(Message::Close(Some(frame)))).await);
    // What it has sent by then must be read: else the system resets the connection, and the reason
    // is lost on the way.
    let parting = async { while let Some(Ok(_)) = socket.recv().await {} };
    drop(tokio::time::timeout(LONGEST_PARTING, parting).await);
}

/// What a client says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wish {
    Subscribe {
        conversation_id: String,
        #[serde(default)]
        after: u64,
    },
    Unsubscribe {
        conversation_id: String,
    },
    Watch,
    Ping,
}

/// A message on its way to a client.
struct Outgoing {
    text: Utf8Bytes,
    /// When the event in it happened, if it is one that the client follows live.
    since: Option<Instant>,
}

/// Why a socket is closed.
type Goodbye = (u16, &'static str);

/// One client.
struct Client {
    state: Arc<ApiState>,
    _permit: OwnedSemaphorePermit,
    followers: JoinSet<()>,
    subscriptions: Vec<(String, AbortHandle)>,
    outgoing: mpsc::Sender<Result<Outgoing, Goodbye>>,
    waiting: mpsc::Receiver<Result<Outgoing, Goodbye>>,
    news: Option<broadcast::Receiver<News>>,
    /// Since when messages are counted, and how many came.
    pace: (Instant, u32),
}

impl Client {
    fn new(state: Arc<ApiState>, permit: OwnedSemaphorePermit) -> Self {
        let (outgoing, waiting) = mpsc::channel(OUTGOING);
        state.shared.metrics.sockets.fetch_add(1, Ordering::Relaxed);
        Self {
            state,
            _permit: permit,
            followers: JoinSet::new(),
            subscriptions: Vec::new(),
            outgoing,
            waiting,
            news: None,
            pace: (Instant::now(), 0),
        }
    }

    async fn serve(mut self, mut socket: WebSocket) {
        let goodbye = self.attend(&mut socket).await;
        self.state.shared.metrics.sockets.fetch_sub(1, Ordering::Relaxed);
        if let Err((code, reason)) = goodbye {
            if code == TOO_SLOW {
                Metrics::count(&self.state.shared.metrics.slow_clients);
            }
            close(socket, code, reason).await;
        }
    }

    /// Serves a client until it goes, or has to.
    async fn attend(&mut self, socket: &mut WebSocket) -> Result<(), Goodbye> {
        let ping = self.state.shared.settings.timeouts.ping;
        let mut pings = tokio::time::interval_at(Instant::now() + ping, ping);
        let mut heard = Instant::now();
        let leaving = self.state.leaving.clone();
        loop {
            while self.followers.try_join_next().is_some() {}
            tokio::select! {
                message = socket.recv() => {
                    heard = Instant::now();
                    match message {
                        Some(Ok(Message::Text(text))) => self.hear(text.as_str()).await?,
                        Some(Ok(Message::Binary(_))) => return Err((1_003, "text only")),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                    }
                }
                Some(message) = self.waiting.recv() => match message {
                    Ok(message) => self.pass_on(socket, message).await?,
                    Err(goodbye) => return Err(goodbye),
                },
                news = next_news(&mut self.news) => match news {
                    Ok(news) => send(socket, Message::Text(news.text)).await?,
                    Err(RecvError::Lagged(_)) => return Err((TOO_SLOW, "too slow")),
                    Err(RecvError::Closed) => return Err((LEAVING, "the host is leaving")),
                },
                _ = pings.tick() => {
                    if heard.elapsed() > ping * 2 {
                        return Err((TOO_SLOW, "no answer to a ping"));
                    }
                    send(socket, Message::Ping(bytes::Bytes::new())).await?;
                }
                () = leaving.cancelled() => return Err((LEAVING, "the host is leaving")),
            }
        }
    }

    async fn hear(&mut self, text: &str) -> Result<(), Goodbye> {
        if text.len() > LARGEST_MESSAGE {
            return Err((TOO_LARGE, "a message may have 64 KiB"));
        }
        if self.pace.0.elapsed() > Duration::from_secs(1) {
            self.pace = (Instant::now(), 0);
        }
        self.pace.1 += 1;
        if self.pace.1 > MOST_A_SECOND {
            return Err((TOO_MANY, "too many messages"));
        }
        let answer = match serde_json::from_str(text) {
            Ok(Wish::Subscribe { conversation_id, after }) => {
                self.subscribe(conversation_id, after).await.err()
            }
            Ok(Wish::Unsubscribe { conversation_id }) => {
                self.unsubscribe(&conversation_id);
                None
            }
            Ok(Wish::Watch) => {
                self.news = Some(self.state.shared.news.subscribe());
                None
            }
            Ok(Wish::Ping) => {
                return self.put(&json!({"type": "pong"}));
            }
            Err(error) => Some(ApiError::bad(format!("The message makes no sense: {error}."))),
        };
        match answer {
            Some(error) => {
                let mut body = error.body();
                body["type"] = json!("error");
                self.put(&body)
            }
            None => Ok(()),
        }
    }

    /// Sends a message, and notes how old the event in it is by then.
    async fn pass_on(&self, socket: &mut WebSocket, message: Outgoing) -> Result<(), Goodbye> {
        send(socket, Message::Text(message.text)).await?;
        if let Some(since) = message.since {
            self.state.shared.metrics.shown_in(since.elapsed());
        }
        Ok(())
    }

    fn put(&self, message: &serde_json::Value) -> Result<(), Goodbye> {
        let text = Utf8Bytes::from(message.to_string());
        let message = Outgoing { text, since: None };
        self.outgoing.try_send(Ok(message)).map_err(|_| (TOO_SLOW, "too slow"))
    }

    fn unsubscribe(&mut self, conversation: &str) {
        self.subscriptions.retain(|(held, follower)| {
            if held == conversation {
                follower.abort();
            }
            held != conversation
        });
    }

    async fn subscribe(&mut self, conversation: String, after: u64) -> Result<(), ApiError> {
        self.unsubscribe(&conversation);
        if self.subscriptions.len() >= MOST_SUBSCRIPTIONS {
            return Err(ApiError::bad("One socket cannot follow that many conversations."));
        }
        let follower = Follower::start(&self.state, conversation.clone(), after).await?;
        let state = Arc::clone(&self.state);
        let outgoing = self.outgoing.clone();
        let following = follow(state, follower, conversation.clone(), outgoing);
        let handle = self.followers.spawn(following);
        self.subscriptions.push((conversation, handle));
        Ok(())
    }
}

async fn follow(
    state: Arc<ApiState>,
    mut follower: Follower,
    conversation_id: String,
    outgoing: mpsc::Sender<Result<Outgoing, Goodbye>>,
) {
    loop {
        let message = match follower.next(&state.shared.store).await {
            Followed::Event(Envelope { text, since, .. }) => Ok(Outgoing { text, since }),
            Followed::CaughtUp(seq) => {
                let word =
                    json!({"type": "caught_up", "conversation_id": conversation_id, "seq": seq});
                Ok(Outgoing { text: word.to_string().into(), since: None })
            }
            Followed::Lagged => Err((TOO_SLOW, "too slow")),
            Followed::Gone => return,
            Followed::Failed(error) => {
                tracing::error!(%error, "events could not be read for a client");
                Err((1_011, "the database does not answer"))
            }
        };
        let is_last = message.is_err();
        if outgoing.send(message).await.is_err() || is_last {
            return;
        }
    }
}

async fn next_news(news: &mut Option<broadcast::Receiver<News>>) -> Result<News, RecvError> {
    match news {
        Some(news) => news.recv().await,
        None => std::future::pending().await,
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Goodbye> {
    match tokio::time::timeout(LONGEST_SEND, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err((LEAVING, "")),
        Err(_) => Err((TOO_SLOW, "too slow")),
    }
}
