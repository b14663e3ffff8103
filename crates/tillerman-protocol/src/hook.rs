//! Hook events, what a hook is told and what it may answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::permission::PermissionMode;
use crate::{SessionId, ToolUseId};

/// The points at which hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HookEvent {
    /// Before a tool runs; may deny, ask, allow, defer or rewrite.
    PreToolUse,
    /// After a tool succeeded.
    PostToolUse,
    /// After a tool failed.
    PostToolUseFailure,
    /// After all calls of a turn ended, before the next request.
    PostToolBatch,
    /// Something the person should notice.
    Notification,
    /// A prompt was submitted, before the model sees it.
    UserPromptSubmit,
    /// A session began.
    SessionStart,
    /// A session ended.
    SessionEnd,
    /// The agent is about to stop.
    Stop,
    /// A round ended in an error.
    StopFailure,
    /// A subagent was started.
    SubagentStart,
    /// A subagent is about to stop.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// Somebody is about to be asked for permission.
    PermissionRequest,
    /// A call was denied.
    PermissionDenied,
    /// One-time preparation of a working copy.
    Setup,
    /// A prompt was expanded from a command.
    UserPromptExpansion,
    /// A teammate has nothing to do.
    TeammateIdle,
    /// A task was created.
    TaskCreated,
    /// A task was completed.
    TaskCompleted,
    /// A settings file changed.
    ConfigChange,
    /// A watched file changed.
    FileChanged,
    /// The working directory changed.
    CwdChanged,
    /// An MCP server asks the user something.
    Elicitation,
    /// The user answered an MCP server.
    ElicitationResult,
    /// Text is about to be shown.
    MessageDisplay,
    /// The model is about to change.
    PreModelSwitch,
    /// The model changed.
    PostModelSwitch,
    /// A worktree is to be made.
    WorktreeCreate,
    /// A worktree is to be removed.
    WorktreeRemove,
    /// Instruction files were loaded.
    InstructionsLoaded,
}

impl HookEvent {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// What every hook is told, whatever the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookBase {
    /// The session. Required by official clients.
    pub session_id: SessionId,
    /// Where the transcript lies. Required by official clients.
    pub transcript_path: String,
    /// The working directory. Required by official clients.
    pub cwd: String,
    /// The permission mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The subagent in which the hook runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The kind of that subagent.
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
        is_interrupt: bool,
        /// How long it took.
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
        last_assistant_message: String,
    },
    /// The round ended in an error.
    StopFailure {
        /// The error.
        error: String,
        /// What it said last.
        last_assistant_message: String,
    },
    /// Somebody is about to be asked.
    PermissionRequest {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// Updates that would make the question unnecessary.
        permission_suggestions: Vec<crate::permission::PermissionUpdate>,
    },
    /// The person should notice something.
    Notification {
        /// The text.
        message: String,
        /// Its kind.
        notification_type: String,
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

/// What a hook may answer. Every field is optional; an empty answer has no opinion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookOutput {
    /// `false` stops the whole run.
    #[serde(rename = "continue", default, skip_serializing_if = "Option::is_none")]
    pub go_on: Option<bool>,
    /// Why the run was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whether the hook's own output is hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// `block` (or the older `approve`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Text for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The hook goes on in the background; it has no decision.
    #[serde(rename = "async", default, skip_serializing_if = "Option::is_none")]
    pub in_background: Option<bool>,
    /// What the event allows beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
}

/// The part of a hook's answer that depends on the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSpecificOutput {
    /// The event this answers.
    #[serde(default)]
    pub hook_event_name: String,
    /// `PreToolUse`: `allow`, `deny`, `ask` or `defer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// The input to use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// `PostToolUse`: the output to show the model instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<Value>,
    /// `PermissionRequest`: the answer in place of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Value>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Hooks that an SDK registers with `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRegistration {
    /// Which tools (or other subjects) the hooks are for; absent means all.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The callbacks to call.
    #[serde(default)]
    pub hook_callback_ids: Vec<String>,
    /// Seconds to wait for each.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// What a failing callback means: `block` or `continue`.
    #[serde(default)]
    pub on_failure: Option<String>,
}
