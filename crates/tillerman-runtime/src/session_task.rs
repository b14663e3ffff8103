//! The task that owns a session: select, step, carry out.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tillerman_engine::{Bill, CallId, IdSource, Input, Place, Prompt, Session, TaskStart};
use tillerman_policy::Policy;
use tillerman_ports::{BackgroundTask, Bounds, BoxFuture, LiveSettings, Tool};
use tillerman_protocol::frame::{Frame, UserFrame};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{Moment, RequestId, TaskId};
use tokio::sync::{mpsc, oneshot};

use crate::agents::{Agents, Tally};
use crate::display::Display;
use crate::hook_desk::HookDesk;
use crate::hook_runs::HookRoom;
use crate::invocations::PromptDesk;
use crate::letting_go::Lettings;
use crate::mcp_desk::{Gate, McpDesk};
use crate::questions::Questions;
use crate::redact::Secrets;
use crate::setup::{Ports, SessionSetup, SystemPrompt};
use crate::task_files::TaskFiles;
use crate::watching::Watching;
use crate::work::{Report, Work};

/// What a front end tells a session.
#[derive(Debug)]
pub enum Inbound {
    /// A frame from the host.
    Frame(Box<Frame>),
    /// End the round that is under way.
    Interrupt,
    /// No further frames will come.
    Closed,
    /// End at once, without a result.
    ShutDown,
    /// The session that started this agent works in another permission mode from now on.
    ParentMode(PermissionMode),
    /// Another member of the team says something.
    Mail(Box<Prompt>),
    /// Another agent says something, and wants to know that it was heard.
    Told {
        /// What it says.
        prompt: Box<Prompt>,
        /// Answered when the session has heard it; dropped when it ends without having done so.
        heard: oneshot::Sender<()>,
    },
}

/// How a session ended.
#[derive(Debug)]
pub struct SessionEnd {
    /// Whether the newest round ended in an error.
    pub last_result_failed: bool,
    /// Why the transcript could not be kept, if that ended the session.
    pub storage_failure: Option<String>,
}

/// Runs a session until its input is closed and nothing is left to do.
///
/// # Cancel safety
/// Dropping the future aborts everything the session started; the transcript stays readable.
pub async fn run(
    mut setup: SessionSetup,
    inbound: mpsc::Receiver<Inbound>,
    out: mpsc::Sender<Frame>,
) -> SessionEnd {
    let (agents, bills) = Agents::plant(&mut setup, &out).unzip();
    let hooks = HookDesk::with_handlers(&mut setup.hooks);
    let mut task = SessionTask::new(setup, agents, hooks, out);
    task.start_mcp();
    task.begin().await;
    Box::pin(run_task(task, inbound, bills)).await
}

/// Runs an agent's session; boxed, since agents run agents.
pub(crate) fn run_agent(
    setup: SessionSetup,
    agents: Agents,
    hooks: HookDesk,
    inbound: mpsc::Receiver<Inbound>,
    out: mpsc::Sender<Frame>,
) -> BoxFuture<SessionEnd> {
    let mut task = SessionTask::new(setup, Some(agents), hooks, out);
    task.start_mcp();
    Box::pin(run_task(task, inbound, None))
}

async fn run_task(
    mut task: SessionTask,
    mut inbound: mpsc::Receiver<Inbound>,
    mut bills: Option<mpsc::Receiver<Bill>>,
) -> SessionEnd {
    let mut open = true;
    while !task.ended || task.is_showing() {
        let watch = task.watch();
        let event = tokio::select! {
            biased;
            // Before anything that an agent reports, so that no total lacks what it spent.
            Some(bill) = next_bill(&mut bills) => Event::Bill(bill),
            // Before the end of whoever wrote, so that the session does not end without reading.
            () = watch.knocked() => Event::Knocked,
            () = watch.ceiling() => Event::Ceiling,
            message = inbound.recv(), if open => {
                // Interrupts still come after the last frame, so only the channel's end closes it.
                open = message.is_some();
                Event::Inbound(message.unwrap_or(Inbound::Closed))
            }
            report = task.work.next() => Event::Report(report),
        };
        match event {
            Event::Inbound(message) => task.hear(message).await,
            Event::Report(report) => task.take_report(report).await,
            Event::Knocked => task.look_at_mail().await,
            Event::Ceiling => task.reach_ceiling(),
            Event::Bill(bill) => task.feed(Input::BilledElsewhere(Box::new(bill))).await,
        }
    }
    task.show_everything().await;
    task.work.wind_down().await;
    task.end_mcp().await;
    task.enter_late_bills(bills).await;
    task.leave_team();
    SessionEnd {
        last_result_failed: task.engine.last_result_failed(),
        storage_failure: task.storage_failure,
    }
}

enum Event {
    Inbound(Inbound),
    Report(Report),
    Bill(Bill),
    Knocked,
    Ceiling,
}

async fn next_bill(bills: &mut Option<mpsc::Receiver<Bill>>) -> Option<Bill> {
    match bills {
        Some(bills) => bills.recv().await,
        None => std::future::pending().await,
    }
}

/// Everything a session task owns.
pub(crate) struct SessionTask {
    pub(crate) engine: Session,
    pub(crate) policy: Policy,
    pub(crate) ports: Ports,
    pub(crate) tools: HashMap<String, Arc<dyn Tool>>,
    pub(crate) work: Work,
    pub(crate) questions: Questions,
    pub(crate) hooks: HookDesk,
    pub(crate) agents: Option<Agents>,
    pub(crate) hook_room: HookRoom,
    pub(crate) display: Display,
    pub(crate) prompts: PromptDesk,
    pub(crate) ids: IdSource,
    pub(crate) out: mpsc::Sender<Frame>,
    pub(crate) facing: Facing,
    pub(crate) pending: VecDeque<Input>,
    pub(crate) copied: Vec<Entry>,
    /// What allowed calls are run with.
    pub(crate) grants: HashMap<CallId, Grant>,
    /// Requests to stop a task, answered once it has ended.
    pub(crate) stops: Vec<(TaskId, RequestId)>,
    pub(crate) lettings: Lettings,
    pub(crate) task_files: TaskFiles,
    pub(crate) storage_failure: Option<String>,
    /// Why the newest checkpoint failed, which is said once.
    pub(crate) checkpoint_complaint: Option<String>,
    pub(crate) ended: bool,
    pub(crate) mcp: McpDesk,
    pub(crate) watching: Watching,
}

/// What an allowed call is run with.
#[derive(Debug, Default)]
pub(crate) struct Grant {
    /// Variables on which its permission hangs.
    pub(crate) environment: Vec<(String, String)>,
    /// Where it runs, in a session that confines its commands.
    pub(crate) bounds: Bounds,
}

/// What a session shows of itself beside its frames.
pub(crate) struct Facing {
    pub(crate) mirror: bool,
    pub(crate) may_bypass: bool,
    /// Whether the host has seen an `init` frame.
    pub(crate) has_greeted: bool,
    pub(crate) greeting: serde_json::Map<String, serde_json::Value>,
    pub(crate) settings: Box<dyn LiveSettings>,
    pub(crate) prompt: SystemPrompt,
    pub(crate) secrets: Secrets,
    pub(crate) shutdown: tokio_util::sync::CancellationToken,
    pub(crate) output_retries: u32,
    /// When the session began.
    pub(crate) begun: Moment,
    /// What its calls changed in files.
    pub(crate) changes: Tally,
}

impl SessionTask {
    fn new(
        mut setup: SessionSetup,
        agents: Option<Agents>,
        hooks: HookDesk,
        out: mpsc::Sender<Frame>,
    ) -> Self {
        setup.engine.hooked.extend(hooks.events());
        let tools = setup.ports.tools.iter().map(|tool| (tool.spec().name, Arc::clone(tool)));
        // Ids of control requests must differ from those of the engine's frames.
        let ids = IdSource::new(setup.engine.seed.map(|half| !half));
        let task_files = agents.as_ref().map(|agents| agents.tree().task_files.clone());
        Self {
            tools: tools.collect(),
            policy: setup.policy,
            work: Work::new(),
            questions: Questions::default(),
            hooks,
            agents,
            hook_room: HookRoom::new(setup.hooks),
            display: Display::default(),
            prompts: PromptDesk::default(),
            ids,
            out,
            facing: Facing {
                mirror: setup.mirror,
                may_bypass: setup.may_bypass,
                has_greeted: false,
                greeting: setup.greeting,
                settings: setup.settings,
                prompt: setup.prompt,
                secrets: setup.secrets,
                shutdown: setup.shutdown,
                output_retries: setup.output_retries,
                begun: setup.ports.clock.now(),
                changes: Tally::default(),
            },
            pending: VecDeque::new(),
            copied: setup.copied,
            grants: HashMap::new(),
            stops: Vec::new(),
            lettings: Lettings::new(),
            task_files: task_files.unwrap_or_default(),
            storage_failure: None,
            checkpoint_complaint: None,
            ended: false,
            mcp: McpDesk::new(setup.mcp),
            watching: Watching::new(setup.observer),
            ports: setup.ports,
            engine: Session::new(setup.engine, setup.restored),
        }
    }

    async fn hear(&mut self, message: Inbound) {
        match message {
            Inbound::Frame(frame) => self.hear_frame(*frame).await,
            Inbound::Interrupt => self.interrupt().await,
            Inbound::Closed => self.close().await,
            Inbound::ShutDown => {
                self.show_everything().await;
                // Whoever resumes the session is asked again; nobody is to take these back.
                self.questions.leave_open();
                self.feed(Input::ShutDown).await;
            }
            Inbound::ParentMode(mode) => self.follow_mode(mode).await,
            Inbound::Mail(prompt) => self.feed(Input::Prompted(*prompt)).await,
            Inbound::Told { prompt, heard } => self.hear_told(*prompt, heard).await,
        }
    }

    async fn hear_frame(&mut self, frame: Frame) {
        match frame {
            Frame::User(mut frame) => {
                self.open_as_main_agent(&mut frame).await;
                self.open_mail().await;
                self.take_prompt(prompt_of(*frame)).await;
            }
            Frame::ControlRequest(request) => self.answer_control(*request).await,
            Frame::ControlResponse(response) => self.take_answer(*response).await,
            Frame::Unknown(frame) => self.hear_malformed(&frame).await,
            _ => {}
        }
    }

    /// Has the engine hear a prompt, under the settings as they are now.
    pub(crate) async fn hear_prompt(&mut self, prompt: Prompt) {
        self.refresh_settings().await;
        self.mcp.shelf.begin();
        self.feed(Input::Prompted(prompt)).await;
    }

    async fn take_report(&mut self, report: Report) {
        match report {
            Report::Engine(mut input) => {
                let has_run = match &*input {
                    Input::ToolEnded { call, .. } => Some(*call),
                    _ => None,
                };
                let ended = match &mut *input {
                    Input::TaskEnded { task, end } => {
                        let report = end.report.iter_mut();
                        report.for_each(|it| self.facing.secrets.redact_text(&mut it.text));
                        Some(task.clone())
                    }
                    Input::ToolEnded { outcome, .. } => {
                        self.facing.secrets.redact(outcome);
                        let output = outcome.as_ref().ok();
                        if let Some(told) = output.and_then(|output| output.structured.as_ref()) {
                            self.facing.changes.returned(told);
                        }
                        None
                    }
                    Input::TaskSpoke { text, .. } => {
                        self.facing.secrets.redact_text(text);
                        None
                    }
                    _ => None,
                };
                self.take_found(&input).await;
                self.feed(*input).await;
                if let Some(call) = has_run {
                    self.notice_directory().await;
                    self.note_call_ended(call).await;
                }
                if let Some(task) = ended {
                    self.forget_agent(&task);
                    self.bring_kept(&task).await;
                    self.rest_teammate(&task).await;
                    self.answer_stops(&task).await;
                }
            }
            Report::HookTimedOut(request) => self.hook_timed_out(request).await,
            Report::HookPrinted(id, printed) => self.handler_printed(&id, printed).await,
            Report::HookEnded(id, report) => self.handler_ended(id, *report).await,
            Report::TaskLeft(task) => self.take_task(task).await,
            Report::Mcp(report) => self.take_mcp_report(*report).await,
            Report::Expanded(expanded) => self.expanded(expanded).await,
            Report::HookCalled(call) => self.hook_called(*call).await,
            Report::ModelJudged(judged) => self.model_judged(*judged).await,
            Report::WatchCrashed => self.watch_crashed().await,
            Report::Unheard(word) => self.bring_again(*word).await,
            Report::TreeAnswered(answer) => self.tree_answered(*answer).await,
            Report::Answered(id, answer) => self.respond(id, answer).await,
        }
    }

    async fn take_task(&mut self, task: BackgroundTask) {
        let start = TaskStart {
            id: task.id.clone(),
            tool_use_id: task.tool_use_id.clone(),
            kind: task.kind,
            description: task.description.clone(),
            output_file: task.output_file.clone(),
            place: Place::Background,
            agent: None,
        };
        self.note_left(&task.tool_use_id, &task.id);
        self.task_files.note(&task.id, task.kind, &task.output_file);
        self.work.task(task);
        self.feed(Input::TaskStarted(Box::new(start))).await;
    }

    /// No further frames will come: prompts that still wait are taken up first.
    pub(crate) async fn close(&mut self) {
        self.close_agents();
        self.start_ceiling();
        self.mcp_host_gone();
        if self.hold_close() {
            if matches!(self.mcp.gate, Gate::Switching) {
                self.give_up_callbacks().await;
            }
            return;
        }
        self.close_now().await;
    }

    pub(crate) async fn close_now(&mut self) {
        self.give_up_callbacks().await;
        if !self.prompts.closes_later() {
            self.feed(Input::InputClosed).await;
        }
    }

    /// Steps the engine until it has nothing more to say about this input.
    pub(crate) async fn feed(&mut self, input: Input) {
        let input = self.without_bypass(input).await;
        if matches!(input, Input::Interrupted) {
            self.prompts.interrupt();
        }
        let mode = self.engine.mode();
        self.pending.push_back(input);
        self.work_off().await;
        if self.engine.mode() != mode {
            self.pass_mode();
        }
    }

    /// Steps the engine until nothing waits for it any more.
    pub(crate) async fn work_off(&mut self) {
        while let Some(input) = self.pending.pop_front() {
            let now = self.ports.clock.now();
            self.watching.hears(now, &input);
            let effects = self.engine.step(now, input);
            for effect in effects {
                self.watching.wants(now, &effect);
                self.carry_out(effect).await;
            }
        }
    }
}

fn prompt_of(frame: UserFrame) -> Prompt {
    let wants_answer = frame.extra.get("shouldQuery") != Some(&serde_json::Value::Bool(false));
    Prompt { uuid: frame.uuid, wants_answer, ..Prompt::new(frame.message.content) }
}
