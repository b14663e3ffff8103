//! The work a session has under way: tasks with a name, so that each can be cancelled and a
//! panicking one becomes a report.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use tillerman_engine::{CallId, Grant, Input, ResponseId, Share, Shortage, TimerId};
use tillerman_ports::{BackgroundTask, BoxFuture, HookEnd, HookReport, Model};
use tillerman_protocol::frame::HookPrinted;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure, ModelRequest};
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::task::{TaskEnd, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome};
use tillerman_protocol::{RequestId, TaskId, ToolUseId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::agents::{Granting, TreeAnswer, Unheard};
use crate::control::Answer;
use crate::expander::Expanded;
use crate::hook_line::HookCall;
use crate::mcp_desk::{McpReport, McpWork};
use crate::model_switch::{ModelJudged, ModelWish};
use crate::task_desk::{CallDesk, Desk};

/// The answer where nobody is left who could give one.
const NOBODY_GRANTS: Granting =
    (Grant::Refused(Shortage::Dollars), Share { usd: 0.0, tokens: 0, turns: 0 });

const REPORTS_IN_FLIGHT: usize = 256;
const TASKS_IN_FLIGHT: usize = 64;
/// How long calls get to end their processes when a session ends.
const WIND_DOWN: Duration = Duration::from_secs(5);

/// Something that work under way has to say.
#[derive(Debug)]
pub(crate) enum Report {
    Engine(Box<Input>),
    HookTimedOut(RequestId),
    HookPrinted(RequestId, HookPrinted),
    HookEnded(RequestId, Box<HookReport>),
    TaskLeft(BackgroundTask),
    Mcp(Box<McpReport>),
    Expanded(Expanded),
    /// Somebody beside the session wants hooks to hear something.
    HookCalled(Box<HookCall>),
    ModelJudged(Box<ModelJudged>),
    WatchCrashed,
    /// A message came too late for the agent that it was for.
    Unheard(Box<Unheard>),
    /// Hooks have made a directory for an agent, or not.
    TreeAnswered(Box<TreeAnswer>),
    /// A request of the host is done.
    Answered(RequestId, Answer),
}

/// Names a piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Model(ResponseId),
    Tool(CallId),
    Timer(TimerId),
    HookTimer(RequestId),
    Reservation(ResponseId),
    Hook(RequestId),
    /// The rest of a hook that nobody waits for.
    DetachedHook(RequestId),
    Task(TaskId),
    Mcp(McpWork),
    /// A prompt that is being put together; there is one at a time.
    Expansion,
    /// Hooks look at another model; there is one such wish at a time.
    Switch,
    /// The files that hooks want to hear of are looked at; numbered, since one that was aborted
    /// may end after the next has begun.
    Watch(u64),
    Request(RequestId),
}

/// Everything a session has under way.
#[derive(Debug)]
pub(crate) struct Work {
    tasks: JoinSet<Option<Report>>,
    names: HashMap<Id, Name>,
    handles: HashMap<Name, AbortHandle>,
    cancels: HashMap<CallId, CancellationToken>,
    call_desks: HashMap<CallId, (ToolUseId, Arc<CallDesk>)>,
    task_cancels: HashMap<TaskId, CancellationToken>,
    hook_cancels: HashMap<RequestId, CancellationToken>,
    /// The model that hooks look at.
    wish: Option<ModelWish>,
    /// How often other files were looked at.
    watches: u64,
    left: mpsc::Receiver<BackgroundTask>,
    desk: Arc<Desk>,
    reports: mpsc::Receiver<Report>,
    reporter: mpsc::Sender<Report>,
}

impl Work {
    pub(crate) fn new() -> Self {
        let (reporter, reports) = mpsc::channel(REPORTS_IN_FLIGHT);
        let (desk, left) = mpsc::channel(TASKS_IN_FLIGHT);
        Self {
            tasks: JoinSet::new(),
            names: HashMap::new(),
            handles: HashMap::new(),
            cancels: HashMap::new(),
            call_desks: HashMap::new(),
            task_cancels: HashMap::new(),
            hook_cancels: HashMap::new(),
            wish: None,
            watches: 0,
            left,
            desk: Arc::new(Desk { left: desk, reporter: reporter.clone() }),
            reports,
            reporter,
        }
    }

    /// The next report; waits for ever when nothing is under way.
    pub(crate) async fn next(&mut self) -> Report {
        loop {
            let joined = tokio::select! {
                biased;
                Some(report) = self.reports.recv() => return report,
                // Before the call that left it: hosts hear of a task before its call's result.
                Some(task) = self.left.recv() => return Report::TaskLeft(task),
                Some(joined) = self.tasks.join_next_with_id() => joined,
                // The set is empty and the channel never closes, since we hold a sender.
                else => std::future::pending().await,
            };
            if let Some(report) = self.joined(joined) {
                return report;
            }
        }
    }

    pub(crate) fn stream(
        &mut self,
        response: ResponseId,
        model: Arc<dyn Model>,
        request: ModelRequest,
    ) {
        let reporter = self.reporter.clone();
        let report =
            move |event| Report::Engine(Box::new(Input::ModelReported { response, event }));
        self.spawn(Name::Model(response), async move {
            let mut stream = model.respond(request);
            while let Some(event) = stream.next().await {
                let last = matches!(
                    event,
                    ModelEvent::Failed(_) | ModelEvent::Stream(StreamEvent::MessageStop)
                );
                if reporter.send(report(event)).await.is_err() || last {
                    return None;
                }
            }
            let cut = ModelFailure::new(FailureKind::Stream, "the stream ended too early");
            // Without a receiver the session is over and nobody needs to know.
            reporter.send(report(ModelEvent::Failed(cut))).await.err().and(None)
        });
    }

    pub(crate) fn call(
        &mut self,
        call: CallId,
        cancel: CancellationToken,
        running: impl Future<Output = ToolOutcome> + Send + 'static,
    ) {
        self.cancels.insert(call, cancel);
        self.spawn(
            Name::Tool(call),
            running.map(move |outcome| {
                Some(Report::Engine(Box::new(Input::ToolEnded { call, outcome })))
            }),
        );
    }

    /// A call that may end in something else than its answer.
    pub(crate) fn errand(
        &mut self,
        call: CallId,
        cancel: CancellationToken,
        running: impl Future<Output = Report> + Send + 'static,
    ) {
        self.cancels.insert(call, cancel);
        self.spawn(Name::Tool(call), running.map(Some));
    }

    /// Works out the answer to a request of the host.
    pub(crate) fn request(
        &mut self,
        id: RequestId,
        answer: impl Future<Output = Answer> + Send + 'static,
    ) {
        let name = Name::Request(id.clone());
        self.spawn(name, answer.map(|answer| Some(Report::Answered(id, answer))));
    }

    /// Something that MCP servers are waited for.
    pub(crate) fn mcp(
        &mut self,
        name: McpWork,
        waiting: impl Future<Output = McpReport> + Send + 'static,
    ) {
        self.spawn(Name::Mcp(name), waiting.map(|report| Some(Report::Mcp(Box::new(report)))));
    }

    /// Where reports are sent from outside.
    pub(crate) fn reporter(&self) -> mpsc::Sender<Report> {
        self.reporter.clone()
    }

    /// Where tools leave work behind.
    pub(crate) fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }

    /// Where a call leaves its work behind, by itself or because it is let go.
    pub(crate) fn call_desk(&mut self, call: CallId, tool_use_id: ToolUseId) -> Arc<CallDesk> {
        let desk = Arc::new(CallDesk::new(self.desk()));
        self.call_desks.insert(call, (tool_use_id, Arc::clone(&desk)));
        desk
    }

    /// Lets a call, or all of them, go on in the background; says which ones do.
    pub(crate) fn let_go(&self, wanted: Option<&ToolUseId>) -> Vec<CallId> {
        let is_wanted = |id: &ToolUseId| wanted.is_none_or(|wanted| wanted == id);
        let released =
            self.call_desks.iter().filter(|(_, (id, desk))| is_wanted(id) && desk.release());
        released.map(|(call, _)| *call).collect()
    }

    /// The call under way that the model named like this.
    pub(crate) fn call_of(&self, tool_use_id: &ToolUseId) -> Option<CallId> {
        let mut calls = self.call_desks.iter();
        calls.find(|(_, (id, _))| id == tool_use_id).map(|(call, _)| *call)
    }

    pub(crate) fn task(&mut self, task: BackgroundTask) {
        self.task_cancels.insert(task.id.clone(), task.cancel);
        let id = task.id.clone();
        let ended = move |end| Some(Report::Engine(Box::new(Input::TaskEnded { task: id, end })));
        self.spawn(Name::Task(task.id), task.work.map(ended));
    }

    /// Asks a task to end; says whether there is such a task.
    pub(crate) fn stop_task(&mut self, task: &TaskId) -> bool {
        let cancel = self.task_cancels.get(task);
        cancel.inspect(|cancel| cancel.cancel()).is_some()
    }

    pub(crate) fn expansion(&mut self, work: impl Future<Output = Expanded> + Send + 'static) {
        self.spawn(Name::Expansion, work.map(|expanded| Some(Report::Expanded(expanded))));
    }

    /// Waits for what hooks say about another model.
    pub(crate) fn switch(
        &mut self,
        wish: ModelWish,
        judging: impl Future<Output = ModelJudged> + Send + 'static,
    ) {
        self.wish = Some(wish);
        let judged = |judged| Some(Report::ModelJudged(Box::new(judged)));
        self.spawn(Name::Switch, judging.map(judged));
    }

    /// Looks at other files from now on, or at none.
    pub(crate) fn watch(&mut self, watching: Option<impl Future<Output = ()> + Send + 'static>) {
        self.abort(&Name::Watch(self.watches));
        self.watches += 1;
        if let Some(watching) = watching {
            self.spawn(Name::Watch(self.watches), watching.map(|()| None));
        }
    }

    pub(crate) fn timer(&mut self, timer: TimerId, after: Duration) {
        let fired = Report::Engine(Box::new(Input::TimerFired { timer }));
        self.spawn(Name::Timer(timer), tokio::time::sleep(after).map(|()| Some(fired)));
    }

    /// Waits for a share of the budget. One that never comes is refused, since nobody is left who
    /// could grant it.
    pub(crate) fn reservation(
        &mut self,
        response: ResponseId,
        granted: oneshot::Receiver<Granting>,
    ) {
        let report = move |granting: Result<Granting, _>| {
            let (grant, spent) = granting.unwrap_or(NOBODY_GRANTS);
            Some(Report::Engine(Box::new(Input::Reserved { response, grant, spent })))
        };
        self.spawn(Name::Reservation(response), granted.map(report));
    }

    pub(crate) fn hook_timer(&mut self, request: RequestId, after: Duration) {
        let name = Name::HookTimer(request.clone());
        let fired = Report::HookTimedOut(request);
        self.spawn(name, tokio::time::sleep(after).map(|()| Some(fired)));
    }

    pub(crate) fn hook(
        &mut self,
        id: RequestId,
        cancel: CancellationToken,
        running: impl Future<Output = HookReport> + Send + 'static,
    ) {
        self.hook_cancels.insert(id.clone(), cancel);
        self.spawn(Name::Hook(id.clone()), running.map(|report| Some(hook_ended(id, report))));
    }

    /// Takes over the rest of a hook that nobody waits for.
    pub(crate) fn detached_hook(&mut self, id: RequestId, rest: BoxFuture<HookReport>) {
        let name = Name::DetachedHook(id.clone());
        self.spawn(name, rest.map(|report| Some(hook_ended(id, report))));
    }

    /// Asks a hook to end; it stays under way until it has.
    pub(crate) fn cancel_hook(&self, id: &RequestId) {
        if let Some(cancel) = self.hook_cancels.get(id) {
            cancel.cancel();
        }
    }

    /// Hears what a hook prints; news that comes too fast is dropped, since the end tells all.
    pub(crate) fn hook_listener(&self, id: RequestId) -> Box<dyn Fn(HookPrinted) + Send + Sync> {
        let reporter = self.reporter.clone();
        Box::new(move |printed| {
            drop(reporter.try_send(Report::HookPrinted(id.clone(), printed)));
        })
    }

    /// Aborts a piece of work that holds nothing worth ending gently.
    pub(crate) fn abort(&mut self, name: &Name) {
        if let Some(handle) = self.handles.remove(name) {
            handle.abort();
        }
    }

    /// Asks a call to end; it stays under way until it has.
    pub(crate) fn cancel_call(&mut self, call: CallId) {
        if let Some(cancel) = self.cancels.get(&call) {
            cancel.cancel();
        }
    }

    /// Ends everything: calls get a moment to end their processes, the rest is dropped.
    pub(crate) async fn wind_down(&mut self) {
        // Hooks that still run are those nobody waited for; they get a moment to finish.
        for cancel in self.cancels.values().chain(self.task_cancels.values()) {
            cancel.cancel();
        }
        let names: Vec<Name> = self.handles.keys().cloned().collect();
        for name in names.iter().filter(|name| !ends_gently(name)) {
            self.abort(name);
        }
        let all_ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(WIND_DOWN, all_ended).await.is_err() {
            tracing::warn!("a tool or hook did not end in time and was dropped");
            self.tasks.shutdown().await;
        }
    }

    fn spawn(&mut self, name: Name, task: impl Future<Output = Option<Report>> + Send + 'static) {
        // What the work says is said about its session.
        let handle = self.tasks.spawn(task.in_current_span());
        self.names.insert(handle.id(), name.clone());
        self.handles.insert(name, handle);
    }

    fn joined(&mut self, joined: Result<(Id, Option<Report>), JoinError>) -> Option<Report> {
        let (id, report) = match joined {
            Ok((id, report)) => (id, Ok(report)),
            Err(error) => (error.id(), Err(error)),
        };
        let name = self.names.remove(&id)?;
        self.handles.remove(&name);
        match &name {
            Name::Tool(call) => {
                self.cancels.remove(call);
                self.call_desks.remove(call);
            }
            Name::Task(task) => drop(self.task_cancels.remove(task)),
            Name::DetachedHook(id) => drop(self.hook_cancels.remove(id)),
            Name::Hook(id) if !matches!(report, Ok(Some(ref report)) if is_detached(report)) => {
                drop(self.hook_cancels.remove(id));
            }
            _ => {}
        }
        match report {
            Ok(report) => report,
            Err(error) if error.is_panic() && name == Name::Switch => {
                let judged =
                    |wish| Report::ModelJudged(Box::new(ModelJudged { wish, outcome: None }));
                self.wish.take().map(judged)
            }
            Err(error) if error.is_panic() => Some(crashed(name)),
            Err(_) => None,
        }
    }
}

fn hook_ended(id: RequestId, report: HookReport) -> Report {
    Report::HookEnded(id, Box::new(report))
}

const fn is_detached(report: &Report) -> bool {
    matches!(report, Report::HookEnded(_, report) if matches!(report.end, HookEnd::Detached(_)))
}

/// Whether a piece of work gets a moment to end its processes.
const fn ends_gently(name: &Name) -> bool {
    matches!(name, Name::Tool(_) | Name::Task(_) | Name::Hook(_) | Name::DetachedHook(_))
}

/// What a piece of work that panicked reports. The panic itself is already on stderr.
fn crashed(name: Name) -> Report {
    match name {
        Name::Model(response) => {
            let failure = ModelFailure::new(FailureKind::Stream, "the model client crashed");
            let event = ModelEvent::Failed(failure);
            Report::Engine(Box::new(Input::ModelReported { response, event }))
        }
        Name::Tool(call) => {
            let outcome =
                Err(ToolFailure::new("The tool crashed. It may have taken effect in part."));
            Report::Engine(Box::new(Input::ToolEnded { call, outcome }))
        }
        Name::Expansion => {
            Report::Expanded(Expanded::Answer("The command crashed and was left out.".to_owned()))
        }
        Name::Request(id) => {
            let text = "The request crashed; nothing was changed.".to_owned();
            Report::Answered(id, Err((text, None)))
        }
        Name::Timer(timer) => Report::Engine(Box::new(Input::TimerFired { timer })),
        Name::HookTimer(request) => Report::HookTimedOut(request),
        Name::Watch(_) | Name::Switch => Report::WatchCrashed,
        Name::Mcp(work) => Report::Mcp(Box::new(McpReport::Crashed(work))),
        Name::Reservation(response) => {
            let (grant, spent) = NOBODY_GRANTS;
            Report::Engine(Box::new(Input::Reserved { response, grant, spent }))
        }
        Name::Hook(id) | Name::DetachedHook(id) => {
            let end = HookEnd::Failed("the program that runs hooks crashed".to_owned());
            hook_ended(id, HookReport::new(end))
        }
        Name::Task(task) => {
            let summary = "The task crashed.".to_owned();
            let end = TaskEnd::new(TaskStatus::Failed, summary);
            Report::Engine(Box::new(Input::TaskEnded { task, end }))
        }
    }
}
