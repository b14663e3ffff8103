//! May this tool run?

use serde_json::Value;
use tillerman_protocol::control::CanUseTool;
use tillerman_protocol::permission::{PermissionResult, PermissionUpdate};

/// A call that somebody has to decide about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub input: Value,
    /// The call.
    pub tool_use_id: String,
    /// The question in one line, where the engine has one.
    pub title: Option<String>,
    /// What the model says it is for.
    pub description: Option<String>,
    /// Why it is a question.
    pub reason: Option<String>,
    /// The path that made it a question.
    pub blocked_path: Option<String>,
    /// The subagent that wants to run it; nothing for the main agent.
    pub agent_id: Option<String>,
    /// Updates that would make the question unnecessary from now on.
    pub suggestions: Vec<PermissionUpdate>,
}

impl ToolRequest {
    pub(crate) fn of(request: CanUseTool) -> Self {
        Self {
            tool_name: request.tool_name,
            input: request.input,
            tool_use_id: request.tool_use_id.as_str().to_owned(),
            title: request.title,
            description: request.description,
            reason: request.decision_reason,
            blocked_path: request.blocked_path,
            agent_id: request.agent_id,
            suggestions: request.permission_suggestions,
        }
    }
}

/// The answer to a [`ToolRequest`].
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Permission(Verdict);

#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    Allow { input: Option<Value>, updates: Vec<PermissionUpdate> },
    Deny { message: String, interrupt: bool },
}

impl Permission {
    /// Run it as it is.
    pub const fn allow() -> Self {
        Self(Verdict::Allow { input: None, updates: Vec::new() })
    }

    /// Run it with this input instead.
    pub const fn allow_with(input: Value) -> Self {
        Self(Verdict::Allow { input: Some(input), updates: Vec::new() })
    }

    /// Do not run it; the model is told why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self(Verdict::Deny { message: message.into(), interrupt: false })
    }

    /// Do not run it, and end the round.
    pub fn deny_and_interrupt(message: impl Into<String>) -> Self {
        Self(Verdict::Deny { message: message.into(), interrupt: true })
    }

    /// Remembers this too, such as one of the suggestions; means nothing when the call is denied.
    pub fn and_remember(mut self, update: PermissionUpdate) -> Self {
        if let Verdict::Allow { updates, .. } = &mut self.0 {
            updates.push(update);
        }
        self
    }

    /// Whether the call may run.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self.0, Verdict::Allow { .. })
    }

    /// The answer on the wire. Older engines insist on the input even when it is unchanged.
    pub(crate) fn into_wire(self, original: Value) -> PermissionResult {
        match self.0 {
            Verdict::Allow { input, updates } => PermissionResult::Allow {
                updated_input: Some(input.unwrap_or(original)),
                updated_permissions: (!updates.is_empty()).then_some(updates),
            },
            Verdict::Deny { message, interrupt } => PermissionResult::Deny { message, interrupt },
        }
    }
}
