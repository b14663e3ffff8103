//! A place to run handlers in, and what they are told.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_hooks::{Handlers, HookConfig};
use tillerman_ports::{
    BackgroundTask, BoxFuture, EventStream, HookEnd, HookJob, HookReport, HookRunner as _, Model,
    Sight, TaskDesk, TaskRefused, Tool,
};
use tillerman_protocol::hook::{HookHandler, HookOutput, HookSection};
use tillerman_protocol::model::{ModelEvent, ModelFailure, ModelRequest};
use tillerman_protocol::stream::StreamEvent;
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes by itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A directory, and handlers that run in it.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    handlers: Handlers,
    pub(crate) model: ScriptedModel,
    pub(crate) tool: Option<Arc<dyn Tool>>,
    pub(crate) sight: Sight,
    pub(crate) timeout: Duration,
    pub(crate) cancel: CancellationToken,
    pub(crate) variables: Vec<(String, String)>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut HookConfig)) -> Self {
        let dir = TempDir::new().unwrap();
        let model = ScriptedModel::default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut config = HookConfig {
            project_dir: dir.path().to_path_buf(),
            environment: vec![
                (OsString::from("PATH"), path),
                variable("HOOK_KEY", "hunter2"),
                variable("OTHER_KEY", "swordfish"),
                variable("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
            ],
            scratch_directory: dir.path().join("scratch"),
            model: Arc::new(model.clone()),
            small_model: "small".to_owned(),
            session: "s".to_owned(),
            allowed_urls: None,
            allowed_variables: None,
        };
        change(&mut config);
        Self {
            dir,
            handlers: Handlers::new(config),
            model,
            tool: None,
            sight: Sight::default(),
            timeout: PATIENCE,
            cancel: CancellationToken::new(),
            variables: Vec::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// Runs a handler as it is written down, for an event.
    pub(crate) async fn run(&self, handler: &Value, event: &str) -> HookReport {
        let run = self.handlers.run(self.job(handler, event));
        tokio::time::timeout(PATIENCE, run).await.expect("the handler goes on")
    }

    pub(crate) const fn runner(&self) -> &Handlers {
        &self.handlers
    }

    pub(crate) fn job(&self, handler: &Value, event: &str) -> HookJob {
        let input: Value = input(event);
        HookJob {
            handler: Arc::new(read(handler)),
            input: Arc::new(serde_json::from_value(input).unwrap()),
            variables: self.variables.as_slice().into(),
            env_file: Some(self.path().join("vars").join("env.sh")),
            timeout: self.timeout,
            cancel: self.cancel.clone(),
            tool: self.tool.clone(),
            sight: self.sight.clone(),
            tasks: Arc::new(NoDesk),
            progress: None,
        }
    }

    /// Runs a shell command as a handler.
    pub(crate) async fn command(&self, command: &str, event: &str) -> HookReport {
        self.run(&json!({"type": "command", "command": command}), event).await
    }
}

fn read(handler: &Value) -> HookHandler {
    let section = json!({"PreToolUse": [{"hooks": [handler]}]});
    let mut section = HookSection::read(section.as_object().unwrap());
    assert_eq!(section.problems, Vec::<String>::new());
    section.groups.remove(0).handlers.remove(0)
}

/// What a hook is told of an event.
pub(crate) fn input(event: &str) -> Value {
    let mut told = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p",
        "permission_mode": "default", "effort": {"level": "high"}, "hook_event_name": event});
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls", "n": 7},
        "tool_use_id": "toolu_1"});
    let details = match event {
        "PreToolUse" | "PermissionRequest" => call,
        "PostToolUse" => {
            let mut call = call;
            call["tool_response"] = json!("out");
            call
        }
        "PostToolUseFailure" => {
            let mut call = call;
            call["error"] = json!("no");
            call
        }
        "PermissionDenied" => {
            let mut call = call;
            call["reason"] = json!("rule");
            call
        }
        "PostToolBatch" => json!({"tool_calls": []}),
        "UserPromptSubmit" => json!({"prompt": "hi"}),
        "UserPromptExpansion" => json!({"expansion_type": "slash_command", "command_name": "c",
            "command_args": "", "prompt": "p"}),
        "SessionStart" => json!({"source": "startup"}),
        "SessionEnd" => json!({"reason": "other"}),
        "Stop" => json!({"stop_hook_active": false}),
        "SubagentStop" => json!({"stop_hook_active": false, "agent_transcript_path": "/a"}),
        "StopFailure" => json!({"error": "rate_limit"}),
        "Notification" => json!({"message": "hey"}),
        "PreCompact" => json!({"trigger": "auto"}),
        "PostCompact" => json!({"trigger": "auto", "compact_summary": "s"}),
        "Setup" => json!({"trigger": "init"}),
        "TeammateIdle" => json!({"teammate_name": "a", "team_name": "b"}),
        "TaskCreated" | "TaskCompleted" => json!({"task_id": "1", "task_subject": "x"}),
        "ConfigChange" => json!({"source": "user_settings"}),
        "WorktreeCreate" => json!({"name": "w"}),
        "Elicitation" => json!({"mcp_server_name": "m", "message": "q"}),
        "ElicitationResult" => json!({"mcp_server_name": "m", "action": "accept"}),
        "PreModelSwitch" => json!({"from_model": "a", "to_model": "b", "source": "sdk"}),
        "SubagentStart" => json!({}),
        other => panic!("{other} has no sample"),
    };
    told.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
    told
}

/// The answer of a run that had one.
pub(crate) fn answer(report: &HookReport) -> &HookOutput {
    match &report.end {
        HookEnd::Answered(output) => output,
        other => panic!("{other:?}, {report:?}"),
    }
}

/// Why a run failed.
pub(crate) fn failure(report: &HookReport) -> &str {
    match &report.end {
        HookEnd::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

/// The text a run adds for the model.
pub(crate) fn context(report: &HookReport) -> Option<&str> {
    answer(report).hook_specific_output.as_ref()?.additional_context.as_deref()
}

#[derive(Debug)]
struct NoDesk;

impl TaskDesk for NoDesk {
    fn take(&self, _task: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

/// Answers requests with what comes first, then always with the same events, and remembers what
/// it was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedModel {
    pub(crate) events: Arc<Mutex<Vec<ModelEvent>>>,
    pub(crate) first: Arc<Mutex<VecDeque<Vec<ModelEvent>>>>,
    pub(crate) requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ScriptedModel {
    pub(crate) fn says(&self, text: &str) {
        let start = json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}});
        let delta = json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}});
        *self.events.lock().unwrap() = events([start, delta, json!({"type": "message_stop"})]);
    }

    /// Has it call a tool before it says anything.
    pub(crate) fn calls_first(&self, name: &str, input: &Value) {
        let start = json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "toolu_a", "name": name, "input": {}}});
        let delta = json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": input.to_string()}});
        let events = events([start, delta, json!({"type": "message_stop"})]);
        self.first.lock().unwrap().push_back(events);
    }
}

fn events<const N: usize>(values: [Value; N]) -> Vec<ModelEvent> {
    let event = |value| ModelEvent::Stream(serde_json::from_value::<StreamEvent>(value).unwrap());
    values.into_iter().map(event).collect()
}

impl Model for ScriptedModel {
    fn respond(&self, request: ModelRequest) -> EventStream {
        self.requests.lock().unwrap().push(request);
        let first = self.first.lock().unwrap().pop_front();
        let events = first.unwrap_or_else(|| self.events.lock().unwrap().clone());
        Box::pin(futures_util::stream::iter(events))
    }

    fn count_tokens(&self, _request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        Box::pin(std::future::ready(Ok(0)))
    }
}
