//! What a hook is told.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient::null_as_default;
use crate::permission::{PermissionMode, PermissionUpdate};
use crate::{SessionId, TaskId, ToolUseId};

/// What every hook is told, whatever the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookBase {
    /// The session. Required by official clients.
    pub session_id: SessionId,
    /// Where the transcript lies. Required by official clients.
    pub transcript_path: String,
    /// The working directory. Required by official clients.
    pub cwd: String,
    /// The prompt that is being worked on; the same for everything its round does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The permission mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// How hard the model tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The subagent in which the hook runs; of `SubagentStart` and `SubagentStop` the subagent
    /// that starts or stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The kind of that subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
}

/// How hard a model tries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// `low`, `medium`, `high`, `xhigh` or `max`.
    pub level: String,
}

/// Work that goes on while the agent stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundWork {
    /// The task.
    pub id: TaskId,
    /// What kind of work it is: `shell` or `subagent`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How far it is; always `running` here.
    pub status: String,
    /// One line about it.
    #[serde(default)]
    pub description: String,
    /// The kind of agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
}

/// What a hook is told about its event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "hook_event_name")]
pub enum HookDetail {
    /// A tool is about to run.
    PreToolUse {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: ToolUseId,
    },
    /// A tool succeeded.
    PostToolUse {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: ToolUseId,
        /// What it returned.
        tool_response: Value,
        /// How long it took.
        #[serde(default)]
        duration_ms: u64,
    },
    /// A tool failed.
    PostToolUseFailure {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: ToolUseId,
        /// What went wrong.
        error: String,
        /// Whether it was interrupted.
        #[serde(default)]
        is_interrupt: bool,
        /// How long it took.
        #[serde(default)]
        duration_ms: u64,
    },
    /// All calls of a turn ended.
    PostToolBatch {
        /// The calls, each with name, input, id and response.
        tool_calls: Vec<Value>,
    },
    /// A prompt was submitted.
    UserPromptSubmit {
        /// The prompt.
        prompt: String,
    },
    /// The session began.
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        source: String,
        /// The model.
        #[serde(default)]
        model: String,
    },
    /// The session ended.
    SessionEnd {
        /// Why.
        reason: String,
    },
    /// The agent is about to stop.
    Stop {
        /// Whether a Stop hook already made it go on.
        stop_hook_active: bool,
        /// What it said last.
        #[serde(default, deserialize_with = "null_as_default")]
        last_assistant_message: String,
        /// What still goes on in the background.
        #[serde(default)]
        background_tasks: Vec<BackgroundWork>,
        /// Prompts that are to come by themselves later.
        #[serde(default)]
        session_crons: Vec<Value>,
    },
    /// The round ended in an error.
    StopFailure {
        /// What kind of error, such as `rate_limit`.
        error: String,
        /// What happened, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_details: Option<String>,
        /// What it said last.
        #[serde(default, deserialize_with = "null_as_default")]
        last_assistant_message: String,
    },
    /// Somebody is about to be asked.
    PermissionRequest {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// Updates that would make the question unnecessary.
        #[serde(default, deserialize_with = "null_as_default")]
        permission_suggestions: Vec<PermissionUpdate>,
    },
    /// The person should notice something.
    Notification {
        /// The text.
        message: String,
        /// Its heading.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its kind.
        #[serde(default)]
        notification_type: String,
    },
    /// A call was denied.
    PermissionDenied {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// The call.
        tool_use_id: ToolUseId,
        /// Why.
        reason: String,
    },
    /// A subagent was started; [`HookBase`] names it.
    SubagentStart {},
    /// A subagent is about to stop; [`HookBase`] names it.
    SubagentStop {
        /// Whether a hook already made it go on.
        stop_hook_active: bool,
        /// Where its transcript lies.
        agent_transcript_path: String,
        /// What it said last.
        #[serde(default, deserialize_with = "null_as_default")]
        last_assistant_message: String,
        /// What still goes on in the background.
        #[serde(default)]
        background_tasks: Vec<BackgroundWork>,
        /// Prompts that are to come by themselves later.
        #[serde(default)]
        session_crons: Vec<Value>,
    },
    /// The conversation is about to be summarised.
    PreCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// What the person wants to be kept.
        #[serde(default)]
        custom_instructions: Option<String>,
    },
    /// The conversation was summarised.
    PostCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// The summary.
        compact_summary: String,
    },
    /// A working copy is prepared.
    Setup {
        /// `init` or `maintenance`.
        trigger: String,
    },
    /// A prompt was expanded from a command.
    UserPromptExpansion {
        /// `slash_command` or `mcp_prompt`.
        expansion_type: String,
        /// The command.
        command_name: String,
        /// What stood behind it.
        command_args: String,
        /// Where the command comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command_source: Option<String>,
        /// What became of it.
        prompt: String,
    },
    /// A teammate has nothing to do.
    TeammateIdle {
        /// The teammate.
        teammate_name: String,
        /// The team.
        team_name: String,
    },
    /// A task was created.
    TaskCreated(TaskSubject),
    /// A task was completed.
    TaskCompleted(TaskSubject),
    /// A settings file changed.
    ConfigChange {
        /// Which kind of file.
        source: String,
        /// The file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_path: Option<String>,
    },
    /// A watched file changed.
    FileChanged {
        /// The file.
        file_path: String,
        /// `change`, `add` or `unlink`.
        event: String,
    },
    /// The working directory changed.
    CwdChanged {
        /// The one before.
        old_cwd: String,
        /// The one now.
        new_cwd: String,
    },
    /// A further working directory was added.
    DirectoryAdded {
        /// The directory.
        directory: String,
        /// What added it.
        source: String,
    },
    /// An MCP server asks the person something.
    Elicitation {
        /// The server.
        mcp_server_name: String,
        /// The question.
        message: String,
        /// `form` or `url`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The page to open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Names the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elicitation_id: Option<String>,
        /// What an answer must look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_schema: Option<Value>,
    },
    /// The person answered an MCP server.
    ElicitationResult {
        /// The server.
        mcp_server_name: String,
        /// `accept`, `decline` or `cancel`.
        action: String,
        /// The answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
        /// `form` or `url`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// Names the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elicitation_id: Option<String>,
    },
    /// Text is about to be shown.
    MessageDisplay {
        /// The turn.
        turn_id: String,
        /// The message.
        message_id: String,
        /// Which piece of it, from 0.
        index: u64,
        /// Whether it is the last piece.
        #[serde(rename = "final")]
        is_final: bool,
        /// The piece.
        delta: String,
    },
    /// The model is about to change.
    PreModelSwitch(ModelSwitch),
    /// The model changed.
    PostModelSwitch(ModelSwitch),
    /// A worktree is to be made.
    WorktreeCreate {
        /// Its name.
        name: String,
    },
    /// A worktree is to be removed.
    WorktreeRemove {
        /// Where it lies.
        worktree_path: String,
    },
    /// An instruction file was loaded.
    InstructionsLoaded {
        /// The file.
        file_path: String,
        /// `User`, `Project`, `Local` or `Managed`.
        memory_type: String,
        /// Why it was loaded.
        load_reason: String,
        /// The patterns under which it applies.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        globs: Option<Vec<String>>,
        /// The file that made it apply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger_file_path: Option<String>,
        /// The file that includes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_file_path: Option<String>,
    },
    /// Any other event, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// Everything a hook is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookInput {
    /// What every hook is told.
    #[serde(flatten)]
    pub base: HookBase,
    /// What this event adds.
    #[serde(flatten)]
    pub detail: HookDetail,
}

/// A task on the list of things to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSubject {
    /// The task.
    pub task_id: TaskId,
    /// Its subject.
    pub task_subject: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// The teammate it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teammate_name: Option<String>,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
}

/// A change of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSwitch {
    /// The model before.
    pub from_model: String,
    /// The model after.
    pub to_model: String,
    /// The name that was asked for; nothing means the default.
    #[serde(default)]
    pub requested_model: Option<String>,
    /// What asked for it: `command`, `picker`, `sdk`, …
    pub source: String,
    /// Everything else, such as what the change costs.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
