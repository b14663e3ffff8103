//! News about hooks that are written down.

use serde::{Deserialize, Serialize};

/// A hook began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStarted {
    /// This run of the hook.
    pub hook_id: String,
    /// The hook, as in `PreToolUse:Bash`.
    pub hook_name: String,
    /// The event.
    pub hook_event: String,
    /// What people may be shown while it runs.
    #[serde(rename = "statusMessage", default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
}

/// A hook printed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookProgress {
    /// Which hook.
    #[serde(flatten)]
    pub hook: HookStarted,
    /// What it printed so far.
    #[serde(flatten)]
    pub printed: HookPrinted,
}

/// A hook ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookResponse {
    /// Which hook.
    #[serde(flatten)]
    pub hook: HookStarted,
    /// What it printed.
    #[serde(flatten)]
    pub printed: HookPrinted,
    /// What the command returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// `success`, `error` or `cancelled`.
    #[serde(default)]
    pub outcome: String,
}

/// What a hook printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookPrinted {
    /// Everything, in the order in which it came.
    #[serde(default)]
    pub output: String,
    /// Standard output.
    #[serde(default)]
    pub stdout: String,
    /// Standard error.
    #[serde(default)]
    pub stderr: String,
}
