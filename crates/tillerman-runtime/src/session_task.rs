//! The task that owns a session: select, step, carry out.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tillerman_engine::{CallId, IdSource, Input, Prompt, Session, TaskStart};
use tillerman_policy::Policy;
use tillerman_ports::{BackgroundTask, Tool};
use tillerman_protocol::frame::{Frame, UserFrame};
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{RequestId, TaskId};
use tokio::sync::mpsc;

use crate::hook_desk::HookDesk;
use crate::invocations::PromptDesk;
use crate::questions::Questions;
use crate::redact::Secrets;
use crate::setup::{Ports, SessionSetup, SystemPrompt};
use crate::work::{Name, Report, Work};

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
    setup: SessionSetup,
    mut inbound: mpsc::Receiver<Inbound>,
    out: mpsc::Sender<Frame>,
) -> SessionEnd {
    let mut task = SessionTask::new(setup, out);
    let mut open = true;
    while !task.ended {
        let event = tokio::select! {
            biased;
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
        }
    }
    task.work.wind_down().await;
    SessionEnd {
        last_result_failed: task.engine.last_result_failed(),
        storage_failure: task.storage_failure,
    }
}

enum Event {
    Inbound(Inbound),
    Report(Report),
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
    pub(crate) prompts: PromptDesk,
    pub(crate) ids: IdSource,
    pub(crate) out: mpsc::Sender<Frame>,
    pub(crate) facing: Facing,
    pub(crate) pending: VecDeque<Input>,
    pub(crate) copied: Vec<Entry>,
    /// Variables that allowed calls must be run with.
    pub(crate) run_with: HashMap<CallId, Vec<(String, String)>>,
    /// Requests to stop a task, answered once it has ended.
    pub(crate) stops: Vec<(TaskId, RequestId)>,
    pub(crate) storage_failure: Option<String>,
    /// Why the newest checkpoint failed, which is said once.
    pub(crate) checkpoint_complaint: Option<String>,
    pub(crate) ended: bool,
}

/// What a session shows of itself beside its frames.
pub(crate) struct Facing {
    pub(crate) mirror: bool,
    pub(crate) may_bypass: bool,
    pub(crate) greeting: serde_json::Map<String, serde_json::Value>,
    pub(crate) settings: serde_json::Value,
    pub(crate) prompt: SystemPrompt,
    pub(crate) secrets: Secrets,
    pub(crate) mcp_servers: Vec<serde_json::Value>,
    pub(crate) shutdown: tokio_util::sync::CancellationToken,
}

impl SessionTask {
    fn new(setup: SessionSetup, out: mpsc::Sender<Frame>) -> Self {
        let tools = setup.ports.tools.iter().map(|tool| (tool.spec().name, Arc::clone(tool)));
        // Ids of control requests must differ from those of the engine's frames.
        let ids = IdSource::new(setup.engine.seed.map(|half| !half));
        Self {
            tools: tools.collect(),
            policy: setup.policy,
            work: Work::new(),
            questions: Questions::default(),
            hooks: HookDesk::default(),
            prompts: PromptDesk::default(),
            ids,
            out,
            facing: Facing {
                mirror: setup.mirror,
                may_bypass: setup.may_bypass,
                greeting: setup.greeting,
                settings: setup.settings,
                prompt: setup.prompt,
                secrets: setup.secrets,
                mcp_servers: setup.mcp_servers,
                shutdown: setup.shutdown,
            },
            pending: VecDeque::new(),
            copied: setup.copied,
            run_with: HashMap::new(),
            stops: Vec::new(),
            storage_failure: None,
            checkpoint_complaint: None,
            ended: false,
            ports: setup.ports,
            engine: Session::new(setup.engine, setup.restored),
        }
    }

    async fn hear(&mut self, message: Inbound) {
        match message {
            Inbound::Frame(frame) => self.hear_frame(*frame).await,
            Inbound::Interrupt => self.feed(Input::Interrupted).await,
            Inbound::Closed => self.close().await,
            Inbound::ShutDown => self.feed(Input::ShutDown).await,
        }
    }

    async fn hear_frame(&mut self, frame: Frame) {
        match frame {
            Frame::User(frame) => self.hear_prompt(prompt_of(*frame)).await,
            Frame::ControlRequest(request) => self.answer_control(*request).await,
            Frame::ControlResponse(response) => self.take_answer(*response).await,
            Frame::Unknown(frame) => self.hear_malformed(&frame).await,
            _ => {}
        }
    }

    async fn take_report(&mut self, report: Report) {
        match report {
            Report::Engine(mut input) => {
                let ended = match &mut *input {
                    Input::TaskEnded { task, .. } => Some(task.clone()),
                    Input::ToolEnded { outcome, .. } => {
                        self.facing.secrets.redact(outcome);
                        None
                    }
                    _ => None,
                };
                self.feed(*input).await;
                if let Some(task) = ended {
                    self.answer_stops(&task).await;
                }
            }
            Report::HookTimedOut(request) => self.hook_timed_out(request).await,
            Report::TaskLeft(task) => self.take_task(task).await,
            Report::Expanded(expanded) => self.expanded(expanded).await,
        }
    }

    async fn take_task(&mut self, task: BackgroundTask) {
        let start = TaskStart {
            id: task.id.clone(),
            tool_use_id: task.tool_use_id.clone(),
            kind: task.kind,
            description: task.description.clone(),
            output_file: task.output_file.clone(),
        };
        self.work.task(task);
        self.feed(Input::TaskStarted(Box::new(start))).await;
    }

    pub(crate) async fn close(&mut self) {
        for given_up in self.hooks.give_up() {
            for request in given_up.requests {
                self.work.abort(&Name::HookTimer(request.clone()));
                self.questions.take(&request);
            }
            let outcome = Box::new(given_up.outcome);
            self.feed(Input::HooksAnswered { run: given_up.run, outcome }).await;
        }
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
        self.pending.push_back(input);
        while let Some(input) = self.pending.pop_front() {
            let effects = self.engine.step(self.ports.clock.now(), input);
            for effect in effects {
                self.carry_out(effect).await;
            }
        }
    }
}

fn prompt_of(frame: UserFrame) -> Prompt {
    let wants_answer = frame.extra.get("shouldQuery") != Some(&serde_json::Value::Bool(false));
    Prompt { uuid: frame.uuid, wants_answer, ..Prompt::new(frame.message.content) }
}
