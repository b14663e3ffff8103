//! Sessions that tests play: every launch is handed to the test, which says what it says.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tillerman_host::{
    BoxFuture, Health, LaunchError, Launcher, OpenOrder, RunEnd, RunOrder, RunningSession,
    SessionStart,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::within;

/// Hands every launch to the test.
#[derive(Debug)]
pub(crate) struct Puppeteer {
    launched: mpsc::Sender<Puppet>,
    refusals: Mutex<Vec<LaunchError>>,
    pub(crate) health: Mutex<Health>,
    /// Whether sessions that are told to end do so only when the test says it.
    pub(crate) lingers: AtomicBool,
}

impl Puppeteer {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Puppet>) {
        let (launched, puppets) = mpsc::channel(16);
        let refusals = Mutex::default();
        let (health, lingers) = (Mutex::new(Health::Up), AtomicBool::new(false));
        (Self { launched, refusals, health, lingers }, puppets)
    }

    /// Has the next launch fail.
    pub(crate) fn refuse(&self, error: LaunchError) {
        self.refusals.lock().unwrap().push(error);
    }
}

impl Launcher for Puppeteer {
    fn launch(&self, order: RunOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        if let Some(error) = self.refusals.lock().unwrap().pop() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (inbound, heard) = mpsc::channel(64);
        let (said, outbound) = mpsc::channel(64);
        let (end, told) = oneshot::channel();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let lingers = self.lingers.load(Ordering::Relaxed);
        let ended = Box::pin(async move {
            tokio::select! {
                end = told => end.unwrap_or(RunEnd { is_orderly: true, ..RunEnd::default() }),
                () = stopped.cancelled(), if !lingers => RunEnd { is_orderly: true, ..RunEnd::default() },
            }
        });
        let puppet = Puppet { order, heard, said, end, stop: stop.clone() };
        let session = RunningSession { inbound, outbound, stop, ended };
        Box::pin(async move {
            self.launched.send(puppet).await.unwrap();
            Ok(session)
        })
    }

    fn open(&self, order: OpenOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        let session = SessionStart::Begin(order.arguments.join(" "));
        let wanted = RunOrder {
            session,
            cwd: order.cwd,
            model: None,
            permission_mode: String::new(),
            may_bypass: false,
            allowed_tools: Vec::new(),
            disallowed_tools: Vec::new(),
            guarded_paths: Vec::new(),
            environment: order.environment,
            mcp_servers: std::collections::BTreeMap::new(),
            max_budget_usd: None,
            owner: order.owner,
        };
        self.launch(wanted)
    }

    fn probe(&self, _model: &str) -> BoxFuture<'_, Health> {
        Box::pin(std::future::ready(*self.health.lock().unwrap()))
    }
}

/// A session that the test plays.
#[derive(Debug)]
pub(crate) struct Puppet {
    pub(crate) order: RunOrder,
    heard: mpsc::Receiver<Value>,
    said: mpsc::Sender<Value>,
    end: oneshot::Sender<RunEnd>,
    pub(crate) stop: CancellationToken,
}

impl Puppet {
    /// The next frame from the host.
    pub(crate) async fn hear(&mut self) -> Value {
        within("a frame for the session", self.heard.recv()).await.expect("the input is open")
    }

    /// Takes no more frames, as a session does whose end nobody has noticed yet.
    pub(crate) fn stop_listening(&mut self) {
        self.heard.close();
    }

    /// Whether the host closed the input.
    pub(crate) async fn is_closed(&mut self) -> bool {
        within("the end of the input", self.heard.recv()).await.is_none()
    }

    pub(crate) async fn say(&self, frame: Value) {
        self.said.send(frame).await.unwrap();
    }

    /// Answers the handshake and returns it.
    pub(crate) async fn greet(&mut self) -> Value {
        let hello = self.hear().await;
        assert_eq!(hello["request"]["subtype"], "initialize");
        let commands = json!([{"name": "compact", "description": "makes room"},
            {"name": "cost", "description": "what was spent"}]);
        self.answer(&hello, json!({"commands": commands, "agents": []})).await;
        hello["request"].clone()
    }

    /// Answers a request of the host.
    pub(crate) async fn answer(&self, request: &Value, response: Value) {
        let response = json!({"subtype": "success", "request_id": request["request_id"],
            "response": response});
        self.say(json!({"type": "control_response", "response": response})).await;
    }

    /// Waits for a prompt, takes it up and returns it.
    pub(crate) async fn prompt(&mut self) -> Value {
        let frame = self.hear().await;
        assert_eq!(frame["type"], "user", "{frame}");
        self.state("running").await;
        let session = self.order.session.id().to_owned();
        self.say(json!({"type": "system", "subtype": "init", "session_id": session,
            "uuid": "i", "model": "m", "tools": []}))
            .await;
        self.lifecycle(&frame["uuid"], "started").await;
        frame
    }

    pub(crate) async fn lifecycle(&self, message: &Value, state: &str) {
        let frame = json!({"type": "command_lifecycle", "command_uuid": message, "state": state,
            "uuid": "l", "session_id": "s"});
        self.say(frame).await;
    }

    pub(crate) async fn state(&self, state: &str) {
        self.say(json!({"type": "system", "subtype": "session_state_changed", "state": state,
            "session_id": "s", "uuid": "s"}))
            .await;
    }

    pub(crate) async fn text(&self, text: &str) {
        let message = json!({"role": "assistant", "id": "m", "model": "m",
            "content": [{"type": "text", "text": text}]});
        self.say(json!({"type": "assistant", "message": message, "uuid": "a", "session_id": "s",
            "parent_tool_use_id": null}))
            .await;
    }

    /// Asks whether a call may run.
    pub(crate) async fn ask(&self, request: &str, call: &str, command: &str) {
        let body = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": call,
            "input": {"command": command}, "permission_suggestions": [{"type": "addRules",
            "behavior": "allow", "destination": "localSettings",
            "rules": [{"toolName": "Bash", "ruleContent": command}]}]});
        self.say(json!({"type": "control_request", "request_id": request, "request": body})).await;
    }

    /// Asks what a server wants to know.
    pub(crate) async fn elicit(&self, request: &str, question: Value) {
        let mut body = json!({"subtype": "elicitation", "mcp_server_name": "shop"});
        body.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
        self.say(json!({"type": "control_request", "request_id": request, "request": body})).await;
    }

    /// Ends the round.
    pub(crate) async fn result(&self, cost: f64) {
        self.finish(json!({"total_cost_usd": cost})).await;
    }

    /// Ends the round with further fields.
    pub(crate) async fn finish(&self, more: Value) {
        let mut frame = json!({"type": "result", "subtype": "success", "is_error": false,
            "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "result": "done",
            "session_id": "s", "uuid": "r", "terminal_reason": "completed",
            "usage": {"input_tokens": 10, "output_tokens": 5}});
        let fields = frame.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.say(frame).await;
        self.state("idle").await;
    }

    /// Ends the session as it should.
    pub(crate) fn end(self) {
        drop(self.said);
        self.end.send(RunEnd { is_orderly: true, ..RunEnd::default() }).unwrap();
    }

    /// Ends the session with this exit code and these last words.
    pub(crate) fn exit(self, exit_code: i32, message: &str) {
        drop(self.said);
        let message = message.to_owned();
        self.end.send(RunEnd { is_orderly: false, message, exit_code }).unwrap();
    }

    /// Ends the session as a crash would.
    pub(crate) fn crash(self, message: &str) {
        drop(self.said);
        self.end.send(RunEnd { message: message.to_owned(), ..RunEnd::default() }).unwrap();
    }
}
