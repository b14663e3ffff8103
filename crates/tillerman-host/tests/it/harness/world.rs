//! A host in a world of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_host::{Host, HostSettings, Role, Store};
use tillerman_protocol::Moment;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_util::sync::CancellationToken;

use super::puppet::{Puppet, Puppeteer};
use super::{Answer, Call};

/// The longest any wait takes before the test fails.
const DEADLINE: Duration = Duration::from_secs(20);
/// 2026-11-15T12:00:00Z.
const NOON: i64 = 1_794_744_000_000;

/// Waits, but not for ever.
#[track_caller]
pub(crate) fn within<T>(what: &str, future: impl Future<Output = T>) -> impl Future<Output = T> {
    let what = what.to_owned();
    async move {
        let waited = tokio::time::timeout(DEADLINE, future).await;
        waited.unwrap_or_else(|_| panic!("waited in vain for {what}"))
    }
}

/// A host, its data and its sessions.
pub(crate) struct World {
    pub(crate) root: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) puppeteer: Arc<Puppeteer>,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) store: Store,
    puppets: mpsc::Receiver<Puppet>,
    shutdown: CancellationToken,
    serving: JoinSet<()>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(adjust: impl FnOnce(&mut HostSettings)) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self::open(root, String::new(), adjust).await
    }

    /// The same data under a new host, as after a restart.
    pub(crate) async fn again(self, adjust: impl FnOnce(&mut HostSettings)) -> Self {
        let Self { root, token, store, mut serving, .. } = self;
        serving.abort_all();
        while serving.join_next().await.is_some() {}
        drop(store);
        Self::open(root, token, adjust).await
    }

    async fn open(root: TempDir, token: String, adjust: impl FnOnce(&mut HostSettings)) -> Self {
        let mut settings = HostSettings::new(root.path().join("work"));
        settings.model = "test-model".to_owned();
        adjust(&mut settings);
        // The host before may still be letting go of the directory.
        let opening = async {
            loop {
                match Store::open(&root.path().join("data")) {
                    Ok(store) => return store,
                    Err(tillerman_host::OpenStoreError::Busy { .. }) => {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let store = within("the data directory", opening).await;
        let (puppeteer, puppets) = Puppeteer::new();
        let puppeteer = Arc::new(puppeteer);
        let clock = Arc::new(AtomicI64::new(NOON));
        let ticking = Arc::clone(&clock);
        let now = Arc::new(move || Moment::from_millis(ticking.fetch_add(1, Ordering::Relaxed)));
        let host = Host::prepare(settings, store.clone(), puppeteer.clone(), now).await.unwrap();
        let token = host.first_token().map_or(token, |token| token.reveal().to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let told = shutdown.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            host.serve(listener, told).await.unwrap();
        });
        Self { root, address, token, puppeteer, clock, store, puppets, shutdown, serving }
    }

    /// Ends the host as SIGTERM would.
    pub(crate) async fn shut_down(&mut self) {
        self.shutdown.cancel();
        within("the end of the host", self.serving.join_next()).await.unwrap().unwrap();
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, by: Duration) {
        self.clock.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn call(&self, method: &'static str, path: &str) -> Call {
        Call::new(self.address, method, path).bearer(&self.token)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", &format!("/api/v1{path}")).send().await
    }

    pub(crate) async fn send(&self, method: &'static str, path: &str, body: Value) -> Answer {
        self.call(method, &format!("/api/v1{path}")).json(&body).send().await
    }

    /// A new conversation's id.
    pub(crate) async fn conversation(&self) -> String {
        let made = self.send("POST", "/conversations", json!({})).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message and returns its id.
    pub(crate) async fn say(&self, conversation: &str, text: &str) -> String {
        let body = json!({"text": text, "client_id": text});
        let path = format!("/conversations/{conversation}/messages");
        let sent = self.send("POST", &path, body).await.expect(202);
        sent["message_id"].as_str().unwrap().to_owned()
    }

    /// The next session that the host starts.
    pub(crate) async fn puppet(&mut self) -> Puppet {
        within("a session", self.puppets.recv()).await.unwrap()
    }

    /// The next session after its handshake, with the prompt it has taken up.
    pub(crate) async fn prompted(&mut self) -> (Puppet, Value) {
        let mut puppet = self.puppet().await;
        puppet.greet().await;
        let prompt = puppet.prompt().await;
        (puppet, prompt)
    }

    /// A conversation whose session has asked about a command, and the card.
    pub(crate) async fn asked(&mut self, command: &str) -> (String, Puppet, Value) {
        let id = self.conversation().await;
        self.say(&id, "go").await;
        let (puppet, _) = self.prompted().await;
        puppet.ask("q1", "u1", command).await;
        let card = self.card().await;
        (id, puppet, card)
    }

    /// The only card that waits.
    pub(crate) async fn card(&self) -> Value {
        let look = async {
            loop {
                let all = self.get("/approvals").await.expect(200);
                if let [card] = all["approvals"].as_array().unwrap().as_slice() {
                    return card.clone();
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        within("a card", look).await
    }

    /// Answers a card.
    pub(crate) async fn answer(&self, card: &Value, body: Value) -> Answer {
        let path = format!("/approvals/{}/answer", card["id"].as_str().unwrap());
        self.send("POST", &path, body).await
    }

    /// Waits until a conversation is in this state and returns it.
    pub(crate) async fn reaches(&self, conversation: &str, state: &str) -> Value {
        let look = async {
            loop {
                let found = self.get(&format!("/conversations/{conversation}")).await.expect(200);
                if found["state"] == state {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        within(&format!("the state {state}"), look).await
    }

    /// Waits until this was said last in a conversation and returns the number of its event.
    pub(crate) async fn reaches_text(&self, conversation: &str, text: &str) -> u64 {
        let look = async {
            loop {
                let path = format!("/conversations/{conversation}");
                let found = self.get(&path).await.expect(200);
                if found["last_text"] == text {
                    let events = self.get(&format!("{path}/events?limit=1")).await.expect(200);
                    return events["last_seq"].as_u64().unwrap();
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        within(text, look).await
    }

    /// Everything that is stored of a conversation.
    pub(crate) async fn events(&self, conversation: &str) -> Vec<Value> {
        let found = self.get(&format!("/conversations/{conversation}/events?after=0")).await;
        let events = found.expect(200)["events"].as_array().unwrap().clone();
        events.into_iter().map(|event| event["event"].clone()).collect()
    }

    /// What people were told about the run.
    pub(crate) async fn run_messages(&self, conversation: &str) -> Vec<String> {
        let events = self.events(conversation).await;
        let runs = events.iter().filter(|event| event["kind"] == "run");
        let texts = runs.map(|event| event["message"].as_str().unwrap().to_owned());
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Adds a user and returns the token.
    pub(crate) async fn user(&self, name: &str, role: Role) -> String {
        let now = Moment::from_millis(NOON);
        self.store.add_user(name, role, now).await.unwrap().reveal().to_owned()
    }

    /// A socket with these headers.
    pub(crate) async fn connect(
        &self,
        headers: &[(&'static str, String)],
    ) -> Result<Socket, SocketError> {
        self.connect_to("/api/v1/socket", headers).await
    }

    /// A socket at another path.
    pub(crate) async fn connect_to(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Socket, SocketError> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let connecting = tokio_tungstenite::client_async(request, stream);
        let (stream, _) = within("a socket", connecting).await?;
        Ok(Socket { stream })
    }

    /// A socket of the owner.
    pub(crate) async fn socket(&self) -> Socket {
        let bearer = format!("Bearer {}", self.token);
        self.connect(&[("authorization", bearer)]).await.unwrap()
    }
}

/// A client's socket.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        use futures_util::SinkExt as _;
        self.stream.send(Message::text(text)).await.unwrap();
    }

    /// The next message; a number when the host closed the socket with it.
    pub(crate) async fn next(&mut self) -> Value {
        use futures_util::StreamExt as _;
        loop {
            match within("a message", self.stream.next()).await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Close(frame))) => {
                    return json!(frame.map_or(0, |frame| u16::from(frame.code)));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Value::Null,
            }
        }
    }

    /// The next message of a kind; others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            assert!(message.is_object(), "the socket was closed: {message}");
            if message["type"] == kind {
                return message;
            }
        }
    }

    pub(crate) async fn subscribe(&mut self, conversation: &str, after: u64) {
        let wish = json!({"type": "subscribe", "conversation_id": conversation, "after": after});
        self.send(wish).await;
    }

    /// Whether the socket stays open so far.
    pub(crate) async fn answers(&mut self) -> bool {
        self.send(json!({"type": "ping"})).await;
        self.next_of("pong").await["type"] == "pong"
    }
}
