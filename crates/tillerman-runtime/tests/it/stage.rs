//! A session with scripted ports, and the host's end of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_engine::{Books, CompactionConfig, Echo, Limits, Origin, Restored, SessionConfig};
use tillerman_policy::{Policy, Rule};
use tillerman_ports::{Clock, LiveSettings, PermissionKeeper, Tool};
use tillerman_protocol::catalog::{Catalog, ModelProfile, Price};
use tillerman_protocol::frame::{Frame, Init};
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::{PermissionMode, PermissionUpdate, UpdateDestination};
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{Moment, SessionId};
use tillerman_runtime::{
    HookSetup, Inbound, Ports, Secrets, SessionEnd, SessionSetup, SystemPrompt, run,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::model::{Script, ScriptedModel};
use crate::shelf::Shelf;
use crate::tools::TestTool;

pub(crate) const SESSION: &str = "7a9f1c52-0d2b-4f7e-8f43-5f1f2f6b9c01";
/// Longer than anything a session waits for; on the paused clock it costs nothing.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A session that has not begun yet.
pub(crate) struct Stage {
    pub(crate) setup: SessionSetup,
    pub(crate) model: ScriptedModel,
    pub(crate) shelf: Shelf,
    pub(crate) room: usize,
}

#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Moment {
        Moment::from_millis(1_700_000_000_000)
    }
}

/// A session whose model plays these scripts.
pub(crate) fn stage(scripts: impl IntoIterator<Item = Script>) -> Stage {
    let model = ScriptedModel::playing(scripts);
    let shelf = Shelf::default();
    let prompt = SystemPrompt {
        base: "You are a test.".to_owned(),
        append: None,
        memory: String::new(),
        environment: "You are nowhere.".to_owned(),
    };
    let setup = SessionSetup {
        engine: config(&prompt),
        restored: Restored::default(),
        copied: Vec::new(),
        prompt,
        policy: Policy { directories: vec!["/nowhere".into()], ..Policy::default() },
        may_bypass: false,
        ports: Ports {
            model: Arc::new(model.clone()),
            tools: Vec::new(),
            transcript: Box::new(shelf.clone()),
            clock: Arc::new(StoppedClock),
            checkpoints: None,
            keeper: Arc::new(Forgetful),
            library: None,
        },
        hooks: HookSetup::default(),
        secrets: Secrets::new([SECRET.to_owned()]),
        mirror: false,
        greeting: json!({"commands": [], "pid": 7}).as_object().unwrap().clone(),
        settings: Box::new(json!({"sources": [], "errors": []})),
        mcp: None,
        output_retries: 5,
        shutdown: CancellationToken::new(),
        agents: None,
        observer: None,
    };
    Stage { setup, model, shelf, room: 64 }
}

/// A credential that no frame or entry may show.
pub(crate) const SECRET: &str = "sk-test-credential";

/// Keeps nothing, and says so.
#[derive(Debug)]
struct Forgetful;

impl PermissionKeeper for Forgetful {
    fn keep(&self, update: &PermissionUpdate) -> Result<(), String> {
        match update {
            PermissionUpdate::AddRules { destination: UpdateDestination::UserSettings, .. } => {
                Err("the settings are read-only".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn config(prompt: &SystemPrompt) -> SessionConfig {
    let profile = |id: &str| ModelProfile {
        id: id.to_owned(),
        display_name: id.to_owned(),
        description: String::new(),
        context_window: 100_000,
        max_output_tokens: 1_000,
        price: Price::default(),
    };
    let catalog = Catalog {
        models: vec![profile("test-model"), profile("test-swift")],
        aliases: vec![("swift".to_owned(), "test-swift-2".to_owned())],
    };
    SessionConfig {
        session_id: SessionId::new(SESSION),
        seed: [1, 2],
        model: "test-model".to_owned(),
        fallback_models: Vec::new(),
        catalog: Arc::new(catalog),
        system: prompt.blocks(),
        tools: Vec::new().into(),
        mode: PermissionMode::Default,
        has_approver: true,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        extra_body: Map::new(),
        limits: Limits::unlimited(),
        echo: Echo::default(),
        origin: Origin { cwd: "/nowhere".to_owned(), ..Origin::default() },
        init: Init { cwd: "/nowhere".to_owned(), ..Init::default() },
        hooked: Vec::new(),
        checkpoints: false,
        agent: None,
        books: Books::Own,
        compaction: CompactionConfig::automatic(),
        structured_output: None,
    }
}

impl Stage {
    pub(crate) fn tools<const N: usize>(mut self, tools: [&TestTool; N]) -> Self {
        self.setup.engine.tools = tools.iter().map(|tool| tool.spec()).collect();
        self.setup.ports.tools =
            tools.into_iter().map(|tool| Arc::new(tool.clone()) as Arc<dyn Tool>).collect();
        self
    }

    /// Hooks that are written down.
    pub(crate) fn handlers(mut self, hooks: HookSetup) -> Self {
        self.setup.hooks = hooks;
        self
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        self.setup.policy.deny.push(Rule::parse(rule).unwrap());
        self
    }

    pub(crate) fn settings(mut self, settings: impl LiveSettings + 'static) -> Self {
        self.setup.settings = Box::new(settings);
        self
    }

    pub(crate) fn mirrored(mut self) -> Self {
        self.setup.mirror = true;
        self
    }

    pub(crate) fn with_states(mut self) -> Self {
        self.setup.engine.echo.session_state = true;
        self
    }

    pub(crate) fn copied(mut self, entries: Vec<Entry>) -> Self {
        self.setup.copied = entries;
        self
    }

    /// How many frames the host leaves unread before the session has to wait for it.
    pub(crate) fn room(mut self, frames: usize) -> Self {
        self.room = frames;
        self
    }

    pub(crate) fn begin(self) -> Play {
        let (inbound, messages) = mpsc::channel(64);
        let (out, frames) = mpsc::channel(self.room);
        let shutdown = self.setup.shutdown.clone();
        let mut session = JoinSet::new();
        session.spawn(run(self.setup, messages, out));
        let (model, shelf) = (self.model, self.shelf);
        Play { inbound, frames, session, shutdown, model, shelf, seen: Vec::new() }
    }
}

/// A session under way, seen from its host.
pub(crate) struct Play {
    inbound: mpsc::Sender<Inbound>,
    frames: mpsc::Receiver<Frame>,
    session: JoinSet<SessionEnd>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) model: ScriptedModel,
    pub(crate) shelf: Shelf,
    seen: Vec<String>,
}

impl Play {
    /// Sends a frame as it stands on the wire.
    pub(crate) async fn send(&self, frame: Value) {
        let frame: Frame = serde_json::from_str(&frame.to_string()).unwrap();
        self.tell(Inbound::Frame(Box::new(frame))).await;
    }

    pub(crate) async fn tell(&self, message: Inbound) {
        self.inbound.send(message).await.unwrap();
    }

    pub(crate) async fn say(&self, text: &str) {
        self.send(json!({"type": "user", "session_id": "default", "parent_tool_use_id": null,
            "message": {"role": "user", "content": text}}))
            .await;
    }

    pub(crate) async fn request(&self, id: &str, request: Value) {
        self.send(json!({"type": "control_request", "request_id": id, "request": request})).await;
    }

    /// Sends a request and waits for its answer, passing over other frames.
    pub(crate) async fn ask(&mut self, request: Value) -> Value {
        self.request("req_1_0badcafe", request).await;
        let answer = self.until("control_response").await;
        assert_eq!(answer["response"]["request_id"], "req_1_0badcafe");
        answer["response"].clone()
    }

    /// Registers hooks as official clients do.
    pub(crate) async fn hook(&mut self, hooks: Value) {
        let answer = self.ask(json!({"subtype": "initialize", "hooks": hooks})).await;
        assert_eq!(answer["subtype"], "success");
    }

    pub(crate) async fn answer(&self, request: &Value, response: Value) {
        let id = &request["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        self.send(json!({"type": "control_response", "response": response})).await;
    }

    pub(crate) async fn answer_error(&self, request: &Value, error: &str) {
        let id = &request["request_id"];
        let response = json!({"subtype": "error", "request_id": id, "error": error});
        self.send(json!({"type": "control_response", "response": response})).await;
    }

    /// The next frame; nothing once the session has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let Ok(frame) = tokio::time::timeout(PATIENCE, self.frames.recv()).await else {
            panic!("nothing came after {:?}", self.seen);
        };
        let frame = serde_json::to_value(frame?).unwrap();
        self.seen.push(kind(&frame));
        Some(frame)
    }

    /// The next frame of a kind, passing over others.
    pub(crate) async fn until(&mut self, wanted: &str) -> Value {
        loop {
            let Some(frame) = self.next().await else {
                panic!("no {wanted} came, only {:?}", self.seen);
            };
            if kind(&frame).starts_with(wanted) {
                return frame;
            }
        }
    }

    /// All frames up to the end of the round.
    pub(crate) async fn round(&mut self) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let Some(frame) = self.next().await else {
                panic!("no result came, only {:?}", self.seen);
            };
            frames.push(frame);
            if kind(&frames[frames.len() - 1]).starts_with("result") {
                return frames;
            }
        }
    }

    /// Whether the session has nothing more to say for a while.
    pub(crate) async fn is_silent_for(&mut self, seconds: u64) -> bool {
        tokio::time::timeout(Duration::from_secs(seconds), self.frames.recv()).await.is_err()
    }

    /// Closes the input and reads to the end.
    pub(crate) async fn close(self) -> (Vec<Value>, SessionEnd) {
        self.tell(Inbound::Closed).await;
        self.rest().await
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) -> (Vec<Value>, SessionEnd) {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        (frames, self.end().await)
    }

    /// Stops reading; the session may go on.
    pub(crate) fn look_away(self) -> Unwatched {
        drop(self.frames);
        Unwatched { inbound: self.inbound, session: self.session }
    }

    /// Hangs up without a word.
    pub(crate) fn hang_up(self) -> Self {
        let (inbound, _) = mpsc::channel(1);
        Self { inbound, ..self }
    }

    /// How the session ended.
    pub(crate) async fn end(&mut self) -> SessionEnd {
        let ended = tokio::time::timeout(PATIENCE, self.session.join_next()).await;
        ended.expect("the session goes on").unwrap().unwrap()
    }
}

/// A session whose frames nobody reads any more.
pub(crate) struct Unwatched {
    inbound: mpsc::Sender<Inbound>,
    session: JoinSet<SessionEnd>,
}

impl Unwatched {
    pub(crate) async fn close(mut self) -> SessionEnd {
        self.inbound.send(Inbound::Closed).await.unwrap();
        let ended = tokio::time::timeout(PATIENCE, self.session.join_next()).await;
        ended.expect("the session goes on").unwrap().unwrap()
    }
}

/// A frame's type and subtype.
pub(crate) fn kind(frame: &Value) -> String {
    let subtype = frame.get("subtype").or_else(|| frame.pointer("/request/subtype"));
    let name = frame["type"].as_str().unwrap_or("?");
    subtype.and_then(Value::as_str).map_or_else(|| name.to_owned(), |sub| format!("{name}/{sub}"))
}

pub(crate) fn kinds(frames: &[Value]) -> Vec<String> {
    frames.iter().map(kind).collect()
}

/// The tool result that a frame carries.
pub(crate) fn tool_result(frames: &[Value]) -> Value {
    let results = frames.iter().filter_map(|frame| frame.pointer("/message/content/0"));
    let mut results = results.filter(|block| block["type"] == "tool_result");
    results.next().expect("there is no tool result").clone()
}
