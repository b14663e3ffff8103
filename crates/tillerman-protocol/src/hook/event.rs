//! The points at which hooks run, and who listens.

use serde::{Deserialize, Serialize};

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
    /// A further working directory was added.
    DirectoryAdded,
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
