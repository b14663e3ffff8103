//! Everything a session hears.

use std::sync::Arc;

use serde_json::Value;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::McpServerState;
use tillerman_protocol::hook::HookEvent;
use tillerman_protocol::model::{ModelEvent, SystemBlock, Thinking};
use tillerman_protocol::permission::{PermissionMode, PermissionUpdate};
use tillerman_protocol::task::{TaskEnd, TaskKind};
use tillerman_protocol::tool::{ToolOutcome, ToolSpec};
use tillerman_protocol::{EntryId, TaskId, ToolUseId};

use crate::calls::{AskId, CallId, HookRunId, ResponseId, TimerId};
use crate::hooks::HookOutcome;
use crate::ledger::Bill;
use crate::pool::{Grant, Share};
use crate::structured::StructuredOutputConfig;
use crate::threshold::Beginning;

/// Something that happened outside the engine.
#[derive(Clone, Debug)]
pub enum Input {
    /// A prompt came in.
    Prompted(Prompt),
    /// The model reported something.
    ModelReported {
        /// The response it belongs to.
        response: ResponseId,
        /// What it reported.
        event: ModelEvent,
    },
    /// All hooks of a run answered, failed or timed out.
    HooksAnswered {
        /// The run.
        run: HookRunId,
        /// Their answers as one.
        outcome: Box<HookOutcome>,
    },
    /// The session begins; comes before everything else, if at all.
    Begun(Beginning),
    /// These calls of an earlier run were never decided about and are to be taken up again.
    CallsReopened(Vec<ToolUseId>),
    /// Hooks that nobody waited for have something to say.
    HooksSpoke {
        /// What they say, as one.
        outcome: Box<HookOutcome>,
        /// Whether a refusal among it wakes the model.
        wakes: bool,
    },
    /// The directory in which commands begin is another one.
    DirectoryChanged {
        /// The one before.
        old: String,
        /// The one now.
        new: String,
    },
    /// Policy judged a call.
    CallJudged {
        /// The call.
        call: CallId,
        /// The verdict.
        judgement: Judgement,
    },
    /// Somebody answered a permission question.
    PermissionAnswered {
        /// The question.
        ask: AskId,
        /// The answer.
        answer: PermissionAnswer,
    },
    /// A tool ended.
    ToolEnded {
        /// The call.
        call: CallId,
        /// How it ended.
        outcome: ToolOutcome,
    },
    /// A tool left work behind.
    TaskStarted(Box<TaskStart>),
    /// Work in the background has something to say while it goes on.
    TaskSpoke {
        /// The task.
        task: TaskId,
        /// What it says, in lines.
        text: String,
    },
    /// Work in the background ended.
    TaskEnded {
        /// The task.
        task: TaskId,
        /// How it ended.
        end: TaskEnd,
    },
    /// Work that a call waits for goes on in the background; the call has this outcome instead.
    TaskBackgrounded {
        /// The task.
        task: TaskId,
        /// What its call is told.
        outcome: Box<ToolOutcome>,
    },
    /// The share of a request was set aside, or there is none left.
    Reserved {
        /// The response that waits for it.
        response: ResponseId,
        /// Whether it may be asked for.
        grant: Grant,
        /// What all agents together had used by then.
        spent: Share,
    },
    /// Another agent of the session got a response.
    BilledElsewhere(Box<Bill>),
    /// A timer fired.
    TimerFired {
        /// The timer.
        timer: TimerId,
    },
    /// Somebody wants the round to end now.
    Interrupted,
    /// A prompt that still waits is taken back.
    PromptWithdrawn(EntryId),
    /// Another model is to answer from now on; `None` means the default.
    ModelChosen(Option<String>),
    /// Another permission mode holds from now on.
    ModeChosen(PermissionMode),
    /// Another thinking setting holds from now on.
    ThinkingChosen(Thinking),
    /// The model is to try this hard from now on; nothing means as hard as it likes.
    EffortChosen(Option<String>),
    /// Somebody gave the session a title.
    Titled(String),
    /// Another system prompt holds from now on.
    SystemChosen(Vec<SystemBlock>),
    /// Other agents can be called from now on, by name.
    AgentsChosen(Vec<String>),
    /// Rounds are to end with an output in a given form.
    OutputChosen(Box<StructuredOutputConfig>),
    /// What `init` lists has changed.
    Relisted(Box<Listing>),
    /// The transcript of a conversation that started over lies here.
    TranscriptMoved(String),
    /// Hooks were registered: these are the events somebody listens to.
    HooksRegistered(Vec<HookEvent>),
    /// Questions about permission are answered also when no more input comes.
    ApproverStays,
    /// Other tools are offered from the next request on.
    ToolsChanged(Arc<[ToolSpec]>),
    /// Other tools are offered from the next request on, and more can be looked up.
    ToolsDeferred {
        /// The tools that are offered.
        tools: Arc<[ToolSpec]>,
        /// The names of the others. A call of one is run all the same.
        deferred: Vec<String>,
    },
    /// MCP servers came, went or changed.
    ServersChanged {
        /// All servers and their state.
        servers: Vec<McpServerState>,
        /// The commands they offer.
        commands: Vec<String>,
    },
    /// No further prompts or answers will come.
    InputClosed,
    /// The process is about to end; no result is wanted.
    ShutDown,
}

/// What files add to a session, as `init` lists it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Commands that work as prompts.
    pub slash_commands: Vec<String>,
    /// Skills by name.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<Value>,
    /// A tool that is offered from now on, or not any more.
    pub tool: Option<ToolChange>,
}

/// What becomes of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChange {
    /// The model is told this about it.
    Offered(ToolSpec),
    /// The model is not told of it any more.
    Withdrawn(String),
}

/// Work that a tool left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStart {
    /// The task.
    pub id: TaskId,
    /// The call that started it.
    pub tool_use_id: ToolUseId,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// One line about it.
    pub description: String,
    /// Where its output goes.
    pub output_file: String,
    /// Whether its call waits for it.
    pub place: Place,
    /// What is known about the agent that does it.
    pub agent: Option<Box<AgentTask>>,
}

/// Whether a call waits for the work it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It does.
    Foreground,
    /// It has returned.
    Background,
}

/// The agent that works on a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTask {
    /// What kind of agent it is.
    pub kind: String,
    /// What it was asked.
    pub prompt: String,
    /// How many agents are above it, itself included.
    pub depth: u32,
    /// The agent that started it.
    pub parent: Option<TaskId>,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// What is said.
    pub content: Content,
    /// The id the host gave it.
    pub uuid: Option<EntryId>,
    /// Whether it wants an answer, or only adds to the conversation.
    pub wants_answer: bool,
    /// Who says it.
    pub author: Author,
    /// The task whose end it tells of.
    pub task: Option<TaskId>,
    /// What a task says in it while it goes on.
    pub news: Option<Box<News>>,
    /// The command it was typed as, when it stands for more than it says.
    pub command: Option<Box<CommandUse>>,
}

/// What a task says while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The task.
    pub task: TaskId,
    /// What it says, in lines.
    pub text: String,
}

/// A command that was made into a prompt before the session heard of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandUse {
    /// What the person typed.
    pub typed: String,
    /// What it is answered with, when no model is to be asked.
    pub answer: Option<String>,
    /// Rules that are allowed while it is worked on.
    pub grants: Vec<String>,
    /// The model that is to answer.
    pub model: Option<String>,
    /// What hooks are told about it, until they have been told.
    pub expansion: Option<Expansion>,
}

/// How a prompt came to stand for another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// `slash_command` or `mcp_prompt`.
    pub kind: &'static str,
    /// The command.
    pub name: String,
    /// What stood behind it.
    pub arguments: String,
    /// Where the command comes from, if that is known.
    pub source: Option<String>,
}

/// Who a user message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person or their program.
    Person,
    /// The engine itself.
    Engine,
}

impl Prompt {
    /// Something a person says that wants an answer.
    #[must_use]
    pub const fn new(content: Content) -> Self {
        Self {
            content,
            uuid: None,
            wants_answer: true,
            author: Author::Person,
            task: None,
            news: None,
            command: None,
        }
    }

    /// A plain text that wants an answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// What the person typed.
    #[must_use]
    pub fn typed(&self) -> String {
        self.command
            .as_ref()
            .map_or_else(|| self.content.plain_text(), |command| command.typed.clone())
    }
}

/// What policy says about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// It may run.
    Allow,
    /// It must not run.
    Deny {
        /// What the model is told.
        message: String,
        /// What kind of thing decided, such as `rule` or `mode`.
        reason_type: String,
    },
    /// Somebody has to decide.
    Ask {
        /// Why it is a question.
        reason: Option<String>,
        /// The path that made it a question.
        blocked_path: Option<String>,
        /// Updates that would make the question unnecessary.
        suggestions: Vec<PermissionUpdate>,
    },
    /// The input is not one the tool takes.
    Invalid {
        /// What is wrong with it.
        message: String,
    },
    /// There is no such tool.
    UnknownTool,
}

/// What somebody answered to a permission question.
#[derive(Clone, Debug, PartialEq)]
pub enum PermissionAnswer {
    /// Run it.
    Allow {
        /// The input to run with; `None` means unchanged.
        updated_input: Option<Value>,
        /// Permission updates to apply from now on.
        updates: Vec<PermissionUpdate>,
    },
    /// Do not run it.
    Deny {
        /// What the model is told.
        message: String,
        /// Whether the whole round ends here.
        interrupt: bool,
    },
    /// Nobody could answer.
    Failed {
        /// Why.
        message: String,
    },
}
