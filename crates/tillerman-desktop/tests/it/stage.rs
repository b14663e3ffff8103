//! A workspace with a place beside it that nothing may reach, and calls of tools in it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tillerman_desktop::{DesktopConfig, DesktopLimits, desktop_tools, full_name};
use tillerman_ports::{BackgroundTask, Bounds, TaskDesk, TaskRefused, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::tool::ToolOutcome;
use tokio_util::sync::CancellationToken;

/// A directory with the folders `work`, the root, and `work-evil`, whose name begins alike.
pub(crate) struct Stage {
    temp: TempDir,
    variables: Vec<(OsString, OsString)>,
    commands: Option<Vec<String>>,
    limits: DesktopLimits,
}

#[derive(Debug)]
struct NoTasks;

impl TaskDesk for NoTasks {
    fn take(&self, _: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["work", "work-evil", "bin", "tmp"] {
            std::fs::create_dir(temp.path().join(folder)).unwrap();
        }
        std::fs::write(temp.path().join("work-evil/secret.txt"), "the secret").unwrap();
        let stage =
            Self { temp, variables: Vec::new(), commands: None, limits: DesktopLimits::default() };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let temp = stage.path("tmp").into_os_string();
        stage.with_variable("PATH", path).with_variable("TMPDIR", temp)
    }

    pub(crate) fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.retain(|(held, _)| held != name);
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Programs are found in a folder of the stage only, where this script lies.
    pub(crate) fn with_program(self, name: &str, script: &str) -> Self {
        let file = self.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let folder = self.path("bin").into_os_string();
        self.with_variable("PATH", folder)
    }

    pub(crate) fn with_commands(mut self, commands: &[&str]) -> Self {
        self.commands = Some(commands.iter().map(|&it| it.to_owned()).collect());
        self
    }

    pub(crate) fn with_time(mut self, time: Duration) -> Self {
        self.limits.time = time;
        self
    }

    pub(crate) fn with_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let file = self.root().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.root().join(name)).unwrap();
    }

    /// Calls a tool as a session would: checked first, then run.
    pub(crate) async fn outcome(&self, tool: &str, input: Value) -> ToolOutcome {
        let config = DesktopConfig::new(&self.root(), self.variables.clone()).unwrap();
        let config = config.with_limits(self.limits.clone());
        let config = match &self.commands {
            Some(commands) => config.with_commands(commands.clone()),
            None => config,
        };
        let tools = desktop_tools(config);
        let tool = tools.iter().find(|it| it.spec().name == full_name(tool)).unwrap();
        tool.check(&input).unwrap();
        let call = ToolCall {
            tool_use_id: ToolUseId::new("call_1"),
            input,
            cancel: CancellationToken::new(),
            environment: Vec::new(),
            bounds: Bounds::default(),
            hidden: tillerman_ports::Hidden::default(),
            tasks: Arc::new(NoTasks),
        };
        tokio::time::timeout(Duration::from_secs(20), tool.call(call)).await.unwrap()
    }

    /// What a call that must succeed says, as JSON.
    pub(crate) async fn answer(&self, tool: &str, input: Value) -> Value {
        let output = self.outcome(tool, input).await.unwrap();
        serde_json::from_str(&output.content.plain_text()).unwrap()
    }

    /// Why a call that must fail fails.
    pub(crate) async fn failure(&self, tool: &str, input: Value) -> String {
        self.outcome(tool, input).await.unwrap_err().message
    }
}
