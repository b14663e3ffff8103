//! A session's tools in a directory of their own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_ports::{
    BackgroundTask, Bounds, BoxFuture, TaskDesk, TaskNews, TaskRefused, Tool, ToolCall,
};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::tool::{ToolOutcome, ToolOutput};
use tillerman_tools::{Audience, ToolConfig, ToolLimits, WebConfig, session_tools};
use tokio_util::sync::CancellationToken;

/// The tools of one session, its directory and its scratch directory.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) desk: Arc<Desk>,
    /// Variables that every call must be run with.
    pub(crate) environment: Vec<(String, String)>,
    root: TempDir,
}

/// A desk that keeps what it takes until somebody asks for it.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    taken: Mutex<Vec<BackgroundTask>>,
    told: Mutex<Vec<TaskNews>>,
    full: bool,
    /// Fires to have the call go on in the background.
    pub(crate) let_go: CancellationToken,
}

impl Desk {
    /// The task taken last.
    pub(crate) fn last(&self) -> BackgroundTask {
        self.taken.lock().unwrap().pop().expect("a task was handed over")
    }

    /// What tasks have said so far.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().iter().map(|news| news.text.clone()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken.lock().unwrap().is_empty()
    }
}

impl TaskDesk for Desk {
    fn take(&self, task: BackgroundTask) -> Result<(), TaskRefused> {
        if self.full {
            return Err(TaskRefused);
        }
        self.taken.lock().unwrap().push(task);
        Ok(())
    }

    fn tell(&self, news: TaskNews) -> BoxFuture<()> {
        self.told.lock().unwrap().push(news);
        Box::pin(std::future::ready(()))
    }

    fn let_go(&self) -> Option<CancellationToken> {
        Some(self.let_go.clone())
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_limits(ToolLimits::default())
    }

    pub(crate) fn with_limits(limits: ToolLimits) -> Self {
        Self::with(|config| config.limits = limits)
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut ToolConfig)) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("cwd")).unwrap();
        let mut config = ToolConfig {
            cwd: root.path().join("cwd").canonicalize().unwrap(),
            working_directories: Vec::new(),
            scratch_directory: root.path().join("scratch"),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            shell: "/bin/bash".into(),
            limits: ToolLimits::default(),
            audience: Audience::Present,
            web: WebConfig::default(),
            confiner: None,
        };
        adjust(&mut config);
        let environment = Vec::new();
        Self { tools: session_tools(config), desk: Arc::default(), environment, root }
    }

    /// A session that takes no more tasks.
    pub(crate) fn without_room() -> Self {
        Self { desk: Arc::new(Desk { full: true, ..Desk::default() }), ..Self::new() }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join("cwd").join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        Arc::clone(self.tools.iter().find(|tool| tool.spec().name == name).unwrap())
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutcome {
        self.call_until(name, input, CancellationToken::new()).await
    }

    pub(crate) async fn call_until(
        &self,
        name: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let tool_use_id = ToolUseId::new("toolu_test");
        let tasks = Arc::clone(&self.desk) as Arc<dyn TaskDesk>;
        self.tool(name)
            .call(ToolCall {
                tool_use_id,
                input,
                cancel,
                environment: self.environment.clone(),
                bounds: Bounds::Confined,
                hidden: tillerman_ports::Hidden::default(),
                tasks,
            })
            .await
    }

    pub(crate) async fn read(&self, path: &Path) -> String {
        text(&self.call("Read", json!({"file_path": path})).await.unwrap())
    }

    pub(crate) async fn bash(&self, command: &str) -> ToolOutcome {
        self.call("Bash", json!({"command": command})).await
    }

    /// The failure text of a call that must fail.
    pub(crate) async fn failure(&self, name: &str, input: Value) -> String {
        self.call(name, input).await.unwrap_err().message
    }
}

/// What the model sees.
pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.plain_text()
}

/// What the host sees.
pub(crate) fn structured(output: &ToolOutput) -> Value {
    output.structured.clone().unwrap()
}

/// Waits for a condition that other processes bring about.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process number a command wrote to a file, once it is there.
pub(crate) async fn pid_in(path: &Path) -> u32 {
    let read = || std::fs::read_to_string(path).ok()?.trim().parse::<u32>().ok();
    until("a process number", || read().is_some()).await;
    read().unwrap()
}

/// Whether a process lives; one that only waits to be reaped does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    })
}

/// The most memory this process has held so far.
pub(crate) fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
