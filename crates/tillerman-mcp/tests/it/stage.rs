//! A hub with servers that are scripts, and a host that notes what it is asked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_mcp::{
    ClientIdentity, CredentialFiles, HubConfig, Limits, McpHub, NamedServer, Patience,
};
use tillerman_ports::{
    BackgroundTask, Bounds, BoxFuture, CallProgress, HostFailure, McpHost, McpServers as _,
    TaskDesk, TaskRefused, Tool, ToolCall,
};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::mcp::{McpServerConfig, McpServerStatus};
use tillerman_protocol::tool::ToolOutcome;
use tokio_util::sync::CancellationToken;

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const SCRIPT: &str = include_str!("server.py");

/// A hub and the directory that it and its servers write to.
pub(crate) struct Stage {
    pub(crate) hub: McpHub,
    pub(crate) host: Arc<NotingHost>,
    directory: TempDir,
}

/// Limits that make tests short.
pub(crate) fn limits() -> Limits {
    Limits { connect: Duration::from_secs(20), ..Limits::default() }
}

/// A hub with one scripted server of that conduct, called `s`.
pub(crate) async fn with_script(conduct: &str) -> Stage {
    let stage = scripts(&[("s", conduct)], limits());
    stage.ready().await;
    stage
}

/// A hub with scripted servers.
pub(crate) fn scripts(servers: &[(&str, &str)], limits: Limits) -> Stage {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("server.py");
    std::fs::write(&script, SCRIPT).unwrap();
    let servers = servers.iter().map(|(name, conduct)| {
        let note = directory.path().join(format!("{name}.log"));
        let config = json!({"command": "python3", "args": [script, conduct, note],
            "env": {"OWN": "own value"}});
        named(name, config)
    });
    let hub = McpHub::start(config(&directory, limits), servers.collect());
    attached(hub, directory)
}

/// A hub with servers of any configuration.
pub(crate) fn hub(servers: Vec<NamedServer>, limits: Limits) -> Stage {
    let directory = tempfile::tempdir().unwrap();
    let hub = McpHub::start(config(&directory, limits), servers);
    attached(hub, directory)
}

pub(crate) fn named(name: &str, config: Value) -> NamedServer {
    NamedServer {
        name: name.to_owned(),
        config: McpServerConfig::from(config),
        scope: "dynamic".to_owned(),
        patience: Patience::Required,
    }
}

fn attached(hub: McpHub, directory: TempDir) -> Stage {
    let host = Arc::new(NotingHost::default());
    hub.attach(Arc::clone(&host) as Arc<dyn McpHost>);
    Stage { hub, host, directory }
}

fn config(directory: &TempDir, limits: Limits) -> HubConfig {
    let path = std::env::vars_os().find(|(name, _)| name == "PATH");
    let given: (OsString, OsString) = ("GIVEN".into(), "given value".into());
    HubConfig {
        environment: path.into_iter().chain([given]).collect(),
        cwd: directory.path().to_path_buf(),
        scratch_directory: directory.path().join("scratch"),
        identity: ClientIdentity { name: "test".to_owned(), version: "1".to_owned() },
        limits,
        deferral: tillerman_ports::Deferral::Never,
        approver: None,
        roots: vec![directory.path().to_path_buf()],
        credentials: Some(CredentialFiles::new(directory.path().join("tokens"))),
    }
}

impl Stage {
    pub(crate) async fn ready(&self) {
        tokio::time::timeout(PATIENCE, self.hub.ready()).await.unwrap();
    }

    pub(crate) fn status(&self, server: &str) -> McpServerStatus {
        let states = self.hub.status();
        states.into_iter().find(|state| state.name == server).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.hub.tools().into_iter().find(|tool| tool.spec().name == name)
    }

    /// Calls a tool of the server `s` as a model does.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> ToolOutcome {
        self.begin(tool, input, CancellationToken::new()).await
    }

    pub(crate) fn begin(
        &self,
        tool: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<ToolOutcome> {
        let found = self.tool(&format!("mcp__s__{tool}")).or_else(|| self.tool(tool));
        let outcome = found.expect("there is no such tool").call(call(input, cancel));
        Box::pin(async move { tokio::time::timeout(PATIENCE, outcome).await.unwrap() })
    }

    /// The text of a call that succeeds.
    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap().content.plain_text()
    }

    /// The message of a call that fails.
    pub(crate) async fn failure(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap_err().message
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What a scripted server noted.
    pub(crate) fn log(&self, server: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(&format!("{server}.log")));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Waits until something holds that the hub or a server brings about.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let wait = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        assert!(waited.is_ok(), "{what} did not happen: {:?}", self.hub.status());
    }

    pub(crate) async fn end(&self) {
        tokio::time::timeout(PATIENCE, self.hub.shut_down()).await.unwrap();
    }
}

pub(crate) fn call(input: Value, cancel: CancellationToken) -> ToolCall {
    ToolCall {
        tool_use_id: ToolUseId::new("toolu_1"),
        input,
        cancel,
        environment: Vec::new(),
        bounds: Bounds::default(),
        hidden: tillerman_ports::Hidden::default(),
        tasks: Arc::new(NoTasks),
    }
}

/// Whether a process is there and not only waiting to be reaped.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[derive(Debug)]
struct NoTasks;

impl TaskDesk for NoTasks {
    fn take(&self, _task: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

type Answerer = Box<dyn Fn(&Value) -> Option<Result<Value, HostFailure>> + Send>;

/// A host that answers as a test wants and notes everything.
#[derive(Default)]
pub(crate) struct NotingHost {
    pub(crate) asked: Mutex<Vec<Value>>,
    pub(crate) progress: Mutex<Vec<CallProgress>>,
    pub(crate) given_up: Arc<Mutex<Vec<Value>>>,
    /// Servers and pages that people are done with.
    pub(crate) completed: Mutex<Vec<String>>,
    answers: Mutex<Option<Answerer>>,
}

impl NotingHost {
    /// Answers requests like this; `None` leaves a request open.
    pub(crate) fn answers(
        &self,
        answer: impl Fn(&Value) -> Option<Result<Value, HostFailure>> + Send + 'static,
    ) {
        *self.answers.lock().unwrap() = Some(Box::new(answer));
    }
}

impl std::fmt::Debug for NotingHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NotingHost")
    }
}

struct Open(Value, Arc<Mutex<Vec<Value>>>);

impl Drop for Open {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.take());
    }
}

impl McpHost for NotingHost {
    fn ask(&self, request: ControlBody) -> BoxFuture<Result<Value, HostFailure>> {
        let request = serde_json::to_value(request).unwrap();
        self.asked.lock().unwrap().push(request.clone());
        let answers = self.answers.lock().unwrap();
        let answer =
            answers.as_ref().map_or(Some(Err(HostFailure::Gone)), |answer| answer(&request));
        match answer {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => {
                let open = Open(request, Arc::clone(&self.given_up));
                Box::pin(async move {
                    let _open = open;
                    std::future::pending().await
                })
            }
        }
    }

    fn progressed(&self, progress: CallProgress) {
        self.progress.lock().unwrap().push(progress);
    }

    fn elicitation_completed(&self, server: &str, elicitation_id: &str) -> BoxFuture<()> {
        self.completed.lock().unwrap().push(format!("{server} {elicitation_id}"));
        Box::pin(std::future::ready(()))
    }
}
