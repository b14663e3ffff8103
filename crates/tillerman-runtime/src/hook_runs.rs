//! Running hooks: callbacks are sent to the host, handlers run here, and what becomes of each is
//! told.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_engine::{HookOutcome, HookRunId, Input};
use tillerman_policy::{Facts, Rule};
use tillerman_ports::{HookEnd, HookJob, HookReport, HookRunner, SettingsChange};
use tillerman_protocol::RequestId;
use tillerman_protocol::control::ControlCancel;
use tillerman_protocol::frame::{
    Frame, HookPrinted, HookProgress, HookResponse, HookStarted, SystemDetail, SystemFrame,
};
use tillerman_protocol::hook::{HookAction, HookEvent, HookInput, HookOutput};
use tokio_util::sync::CancellationToken;

use crate::facts::RealDisk;
use crate::file_watch::Watched;
use crate::hook_desk::{HandlerStart, RunKey, Start};
use crate::hook_line::{HookReply, spoken};
use crate::hook_setup::HookSetup;
use crate::questions::Question;
use crate::session_task::SessionTask;
use crate::work::Name;

/// How much longer than its own time limit a runner may take to end a handler.
const OVERTIME: Duration = Duration::from_secs(10);
const WENT_ON: &str = "The work went on without it.";
const ENV_FILE: &str = "CLAUDE_ENV_FILE";

/// What a session keeps about handlers beside who listens.
#[derive(Debug)]
pub(crate) struct HookRoom {
    setup: HookSetup,
    running: HashMap<RequestId, Running>,
    /// Where commands begin, as hooks were told last.
    directory: Option<PathBuf>,
    /// Changes of the settings that hooks are asked about.
    pub(crate) held: HashMap<RunKey, SettingsChange>,
    /// Work beside the session that waits for a run.
    pub(crate) callers: HashMap<RunKey, HookReply>,
    /// Files that hooks hear of.
    pub(crate) watched: Watched,
}

/// A handler that runs.
#[derive(Debug)]
struct Running {
    news: HookStarted,
    origin: Arc<str>,
    timeout: Duration,
    is_shown: bool,
    /// Whether a refusal wakes the model once nobody waits for it.
    wakes: bool,
    is_detached: bool,
}

impl HookRoom {
    /// What an agent of this session needs in order to run the same hooks.
    pub(crate) fn below(&self) -> HookSetup {
        HookSetup {
            runner: self.setup.runner.clone(),
            show_events: self.setup.show_events,
            end_budget: self.setup.end_budget,
            env_file: self.setup.env_file.clone(),
            ..HookSetup::default()
        }
    }
}

impl Running {
    /// How it ended, if anybody is to see it.
    fn response(&self, report: &HookReport) -> Option<HookResponse> {
        let outcome = match (&report.end, report.exit_code) {
            (HookEnd::Answered(_), None | Some(0)) => "success",
            (HookEnd::Answered(_) | HookEnd::Failed(_) | HookEnd::Detached(_), _) => "error",
            (HookEnd::TimedOut | HookEnd::Cancelled, _) => "cancelled",
        };
        self.is_shown.then(|| HookResponse {
            hook: self.news.clone(),
            printed: report.printed.clone(),
            exit_code: report.exit_code,
            outcome: outcome.to_owned(),
        })
    }

    /// What people should know about how it ended.
    fn complaint(&self, report: &HookReport) -> Option<String> {
        let title = format!("The {} hook of {}", self.news.hook_name, self.origin);
        match &report.end {
            HookEnd::Failed(why) => Some(format!("{title} failed: {why}. {WENT_ON}")),
            HookEnd::TimedOut => {
                let seconds = self.timeout.as_secs_f64();
                Some(format!("{title} did not end within {seconds} s and was ended. {WENT_ON}"))
            }
            _ => report.remark.as_ref().map(|remark| format!("{title}: {remark}.")),
        }
    }
}

impl HookRoom {
    pub(crate) fn new(setup: HookSetup) -> Self {
        Self {
            setup,
            running: HashMap::new(),
            directory: None,
            held: HashMap::new(),
            callers: HashMap::new(),
            watched: Watched::default(),
        }
    }

    /// Keeps what people should know about hooks until it can be told.
    pub(crate) fn remark_later(&mut self, remarks: Vec<String>) {
        self.setup.remarks.extend(remarks);
    }
}

impl SessionTask {
    /// Tells what is wrong with hooks, and hooks that the session begins.
    pub(crate) async fn begin(&mut self) {
        self.tell_remarks().await;
        self.hook_room.directory = self.shell_directory();
        let beginning = std::mem::take(&mut self.hook_room.setup.beginning);
        self.feed(Input::Begun(beginning)).await;
        self.watch_files();
        let library = self.ports.library.clone();
        for detail in library.into_iter().flat_map(|library| library.take_loaded()) {
            if self.hears(&detail) {
                let input = self.engine.hook_input(detail);
                self.tell_hooks(input).await;
            }
        }
        self.work_off().await;
    }

    /// Tells what is wrong with hooks and has not been told yet.
    pub(crate) async fn tell_remarks(&mut self) {
        for remark in std::mem::take(&mut self.hook_room.setup.remarks) {
            self.complain("hooks", &remark).await;
        }
    }

    pub(crate) async fn run_hooks(&mut self, run: HookRunId, input: HookInput) {
        self.start_hooks(RunKey::Engine(run), input).await;
    }

    /// Runs hooks that nobody waits for.
    pub(crate) async fn tell_hooks(&mut self, input: HookInput) {
        let key = self.hooks.aside();
        self.start_hooks(key, input).await;
    }

    pub(crate) async fn start_hooks(&mut self, key: RunKey, input: HookInput) {
        let policy = &self.policy;
        let concerns = |rule: &Rule| {
            let Some((tool, input)) = input.call() else { return false };
            let facts = Facts { tool, input, only_looks: false, disk: &RealDisk };
            policy.concerns(rule, &facts)
        };
        let (callbacks, handlers) = match self.hooks.start(key, &input, &mut self.ids, &concerns) {
            Start::Waiting(callbacks, handlers) => (callbacks, handlers),
            Start::Done(outcome) if self.hook_room.held.contains_key(&key) => {
                return self.settings_judged(key, *outcome).await;
            }
            Start::Done(outcome) => {
                let heard = self.heard(key, *outcome);
                self.pending.extend(heard);
                return self.show_waiting().await;
            }
        };
        let input = Arc::new(input);
        for handler in handlers {
            self.start_handler(handler, &input).await;
        }
        for callback in callbacks {
            self.work.hook_timer(callback.request.clone(), callback.timeout);
            self.questions.put(callback.request.clone(), Question::Hook);
            self.send_request(callback.request, callback.body).await;
        }
    }

    pub(crate) async fn cancel_hooks(&mut self, run: HookRunId) {
        let abandoned = self.hooks.cancel(RunKey::Engine(run));
        for id in &abandoned.handlers {
            self.work.cancel_hook(id);
        }
        for request_id in abandoned.callbacks {
            self.work.abort(&Name::HookTimer(request_id.clone()));
            self.questions.take(&request_id);
            self.show(Frame::ControlCancelRequest(ControlCancel { request_id })).await;
        }
    }

    /// Fails the callbacks that the host can no longer answer.
    pub(crate) async fn give_up_callbacks(&mut self) {
        let (requests, done) = self.hooks.give_up();
        for request in requests {
            self.work.abort(&Name::HookTimer(request.clone()));
            self.questions.take(&request);
        }
        for (key, outcome) in done {
            self.hooks_done(key, outcome).await;
        }
    }

    pub(crate) async fn hooks_done(&mut self, key: RunKey, mut outcome: HookOutcome) {
        if matches!(key, RunKey::Settings(_)) {
            self.settings_judged(key, outcome).await;
            let events = self.hooks.events();
            return self.feed(Input::HooksRegistered(events)).await;
        }
        if let Some(paths) = outcome.watch.take() {
            self.watch_also(paths);
        }
        let heard = self.heard(key, outcome);
        self.show_waiting().await;
        if let Some(input) = heard {
            self.feed(input).await;
        }
    }

    /// What the engine hears of a run.
    fn heard(&mut self, key: RunKey, outcome: HookOutcome) -> Option<Input> {
        match key {
            RunKey::Caller(_) => self.answer_caller(key, outcome),
            RunKey::Display(_) => {
                let spoken = spoken(&outcome);
                self.display_judged(key, outcome);
                spoken
            }
            key => answered(key, outcome),
        }
    }

    /// Variables that hooks have left for commands.
    pub(crate) fn hook_variables(&self, tool: &str) -> Vec<(String, String)> {
        let file = self.hook_room.setup.env_file.as_ref();
        let file = file.filter(|file| matches!(tool, "Bash" | "Monitor") && file.is_file());
        file.map(|file| (ENV_FILE.to_owned(), file.display().to_string())).into_iter().collect()
    }

    /// Tells hooks when a command has left the shell in another directory.
    pub(crate) async fn notice_directory(&mut self) {
        let now = self.shell_directory();
        let before = std::mem::replace(&mut self.hook_room.directory, now.clone());
        if let (Some(old), Some(new)) = (before, now)
            && old != new
        {
            let (old, new) = (old.display().to_string(), new.display().to_string());
            self.feed(Input::DirectoryChanged { old, new }).await;
        }
    }

    fn shell_directory(&self) -> Option<PathBuf> {
        self.tools.get("Bash").and_then(|tool| tool.directory())
    }

    async fn start_handler(&mut self, start: HandlerStart, input: &Arc<HookInput>) {
        let HandlerStart { id, chosen, timeout } = start;
        let Some(event) = input.detail.event() else { return };
        let news = news(&id, event, input, chosen.handler.status_message.clone());
        let is_start = matches!(event, HookEvent::SessionStart | HookEvent::Setup);
        let is_shown = self.hook_room.setup.show_events || is_start;
        if is_shown {
            self.show_hook(SystemDetail::HookStarted(news.clone())).await;
        }
        let wakes =
            matches!(&chosen.handler.action, HookAction::Command(command) if command.async_rewake);
        let origin = Arc::clone(&chosen.origin);
        let running = Running { news, origin, timeout, is_shown, wakes, is_detached: false };
        self.hook_room.running.insert(id.clone(), running);
        let tool = match &chosen.handler.action {
            HookAction::McpTool(hook) => self.tools.get(&hook.tool_name()).cloned(),
            _ => None,
        };
        let sight = self.sight_for(&chosen.handler.action);
        let cancel = CancellationToken::new();
        let job = HookJob {
            handler: chosen.handler,
            input: Arc::clone(input),
            variables: chosen.variables,
            env_file: self.hook_room.setup.env_file.clone(),
            timeout,
            cancel: cancel.clone(),
            tool,
            sight,
            tasks: self.work.desk(),
            progress: is_shown.then(|| self.work.hook_listener(id.clone())),
        };
        let runner = self.hook_room.setup.runner.clone();
        self.work.hook(id, cancel, run_handler(runner, job));
    }

    pub(crate) async fn handler_printed(&mut self, id: &RequestId, mut printed: HookPrinted) {
        if let Some(running) = self.hook_room.running.get(id).filter(|it| it.is_shown) {
            self.facing.secrets.redact_printed(&mut printed);
            let hook = running.news.clone();
            self.show_hook(SystemDetail::HookProgress(HookProgress { hook, printed })).await;
        }
    }

    /// Takes in what became of a handler.
    pub(crate) async fn handler_ended(&mut self, id: RequestId, mut report: HookReport) {
        self.enter_hook_bills(std::mem::take(&mut report.bills)).await;
        self.facing.secrets.redact_printed(&mut report.printed);
        if let HookEnd::Detached(rest) = report.end {
            if let Some(running) = self.hook_room.running.get_mut(&id) {
                running.is_detached = true;
            }
            self.work.detached_hook(id.clone(), rest);
            return self.handler_answered(&id, HookOutput::default()).await;
        }
        let Some(running) = self.hook_room.running.remove(&id) else { return };
        self.tell_end(running.response(&report), running.complaint(&report)).await;
        let HookEnd::Answered(output) = report.end else {
            return self.handler_answered(&id, HookOutput::default()).await;
        };
        let output = self.facing.secrets.redact_output(*output);
        if running.is_detached {
            let outcome = Box::new(HookOutcome::merge([output]));
            return self.feed(Input::HooksSpoke { outcome, wakes: running.wakes }).await;
        }
        self.handler_answered(&id, output).await;
    }

    async fn handler_answered(&mut self, id: &RequestId, output: HookOutput) {
        if let Some((key, outcome)) = self.hooks.answer(id, Ok(output)) {
            self.hooks_done(key, outcome).await;
        }
    }

    /// Shows how a handler ended; what went wrong is told whether or not anybody asked to see it.
    async fn tell_end(&mut self, response: Option<HookResponse>, complaint: Option<String>) {
        if let Some(response) = response {
            self.show_hook(SystemDetail::HookResponse(response)).await;
        }
        if let Some(mut text) = complaint {
            self.facing.secrets.redact_text(&mut text);
            self.complain("hook_failed", &text).await;
        }
    }

    async fn complain(&mut self, key: &str, text: &str) {
        tracing::warn!("{text}");
        self.notify(key, text).await;
    }

    async fn show_hook(&mut self, detail: SystemDetail) {
        let session_id = self.engine.config().session_id.clone();
        let frame = SystemFrame { detail, session_id, uuid: self.ids.entry_id() };
        self.show(Frame::System(Box::new(frame))).await;
    }
}

/// A run's outcome as the engine hears it; one that nobody waits for is silent if it says nothing.
fn answered(key: RunKey, outcome: HookOutcome) -> Option<Input> {
    match key {
        RunKey::Engine(run) => Some(Input::HooksAnswered { run, outcome: Box::new(outcome) }),
        RunKey::Aside(_) if outcome == HookOutcome::default() => None,
        RunKey::Settings(_) | RunKey::Caller(_) | RunKey::Display(_) => None,
        RunKey::Aside(_) => Some(Input::HooksSpoke { outcome: Box::new(outcome), wakes: false }),
    }
}

fn news(
    id: &RequestId,
    event: HookEvent,
    input: &HookInput,
    status_message: Option<String>,
) -> HookStarted {
    let hook_event = event.name();
    let hook_name = match input.subject() {
        Some(subject) => format!("{hook_event}:{subject}"),
        None => hook_event.clone(),
    };
    HookStarted { hook_id: id.to_string(), hook_name, hook_event, status_message }
}

/// Runs a handler; a runner that does not keep to the time limit is given up.
async fn run_handler(runner: Option<Arc<dyn HookRunner>>, job: HookJob) -> HookReport {
    let Some(runner) = runner else {
        let why = "there is nothing to run it with".to_owned();
        return HookReport::new(HookEnd::Failed(why));
    };
    let limit = job.timeout.saturating_add(OVERTIME);
    match tokio::time::timeout(limit, runner.run(job)).await {
        Ok(report) => report,
        Err(_) => HookReport::new(HookEnd::TimedOut),
    }
}
