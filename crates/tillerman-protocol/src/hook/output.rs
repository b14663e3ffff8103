//! What a hook may answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// Seconds after which a hook in the background is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<f64>,
    /// What the event allows beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl HookOutput {
    /// What makes this no answer at all. A decision that nobody knows must not pass for none.
    #[must_use]
    pub fn mistake(&self) -> Option<String> {
        let decision = self.hook_specific_output.as_ref()?.permission_decision.as_deref()?;
        let is_known = matches!(decision, "allow" | "deny" | "ask" | "defer");
        (!is_known).then(|| {
            format!("permissionDecision is {decision:?}, not one of allow, deny, ask and defer")
        })
    }

    /// Whether this says of itself that it answers another event than this one.
    #[must_use]
    pub fn is_for_another(&self, event: &str) -> bool {
        let specific = self.hook_specific_output.as_ref();
        specific.is_some_and(|specific| {
            !specific.hook_event_name.is_empty() && specific.hook_event_name != event
        })
    }
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
    /// `PostToolUse`: the older name of the same, for tools of MCP servers.
    #[serde(rename = "updatedMCPToolOutput", default, skip_serializing_if = "Option::is_none")]
    pub updated_mcp_tool_output: Option<Value>,
    /// `UserPromptSubmit`, `SessionStart`: a title for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// `SessionStart`: a prompt to begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_user_message: Option<String>,
    /// `SessionStart`, `CwdChanged`, `FileChanged`: files to watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_paths: Option<Vec<String>>,
    /// `PermissionDenied`: whether the call may be tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// `PermissionRequest`: the answer in place of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Value>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
