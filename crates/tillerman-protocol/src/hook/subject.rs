//! What an event is about: its name, its call, and what a matcher looks at.

use serde_json::Value;

use crate::ToolUseId;
use crate::hook::event::HookEvent;
use crate::hook::input::{HookDetail, HookInput};

impl HookDetail {
    /// The event; nothing for one that is not known.
    #[must_use]
    pub const fn event(&self) -> Option<HookEvent> {
        Some(match self {
            Self::PreToolUse { .. } => HookEvent::PreToolUse,
            Self::PostToolUse { .. } => HookEvent::PostToolUse,
            Self::PostToolUseFailure { .. } => HookEvent::PostToolUseFailure,
            Self::PostToolBatch { .. } => HookEvent::PostToolBatch,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
            Self::Stop { .. } => HookEvent::Stop,
            Self::StopFailure { .. } => HookEvent::StopFailure,
            Self::PermissionRequest { .. } => HookEvent::PermissionRequest,
            Self::Notification { .. } => HookEvent::Notification,
            Self::PermissionDenied { .. } => HookEvent::PermissionDenied,
            Self::SubagentStart {} => HookEvent::SubagentStart,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::PreCompact { .. } => HookEvent::PreCompact,
            Self::PostCompact { .. } => HookEvent::PostCompact,
            Self::Setup { .. } => HookEvent::Setup,
            Self::UserPromptExpansion { .. } => HookEvent::UserPromptExpansion,
            Self::TeammateIdle { .. } => HookEvent::TeammateIdle,
            Self::TaskCreated(_) => HookEvent::TaskCreated,
            Self::TaskCompleted(_) => HookEvent::TaskCompleted,
            Self::ConfigChange { .. } => HookEvent::ConfigChange,
            Self::FileChanged { .. } => HookEvent::FileChanged,
            Self::CwdChanged { .. } => HookEvent::CwdChanged,
            Self::DirectoryAdded { .. } => HookEvent::DirectoryAdded,
            Self::Elicitation { .. } => HookEvent::Elicitation,
            Self::ElicitationResult { .. } => HookEvent::ElicitationResult,
            Self::MessageDisplay { .. } => HookEvent::MessageDisplay,
            Self::PreModelSwitch(_) => HookEvent::PreModelSwitch,
            Self::PostModelSwitch(_) => HookEvent::PostModelSwitch,
            Self::WorktreeCreate { .. } => HookEvent::WorktreeCreate,
            Self::WorktreeRemove { .. } => HookEvent::WorktreeRemove,
            Self::InstructionsLoaded { .. } => HookEvent::InstructionsLoaded,
            Self::Other(_) => return None,
        })
    }

    /// The call this is about.
    #[must_use]
    pub const fn tool_use_id(&self) -> Option<&ToolUseId> {
        match self {
            Self::PreToolUse { tool_use_id, .. }
            | Self::PostToolUse { tool_use_id, .. }
            | Self::PostToolUseFailure { tool_use_id, .. }
            | Self::PermissionDenied { tool_use_id, .. } => Some(tool_use_id),
            _ => None,
        }
    }
}

impl HookInput {
    /// The call that the event is about: its tool and input.
    #[must_use]
    pub const fn call(&self) -> Option<(&String, &Value)> {
        match &self.detail {
            HookDetail::PreToolUse { tool_name, tool_input, .. }
            | HookDetail::PostToolUse { tool_name, tool_input, .. }
            | HookDetail::PostToolUseFailure { tool_name, tool_input, .. }
            | HookDetail::PermissionRequest { tool_name, tool_input, .. }
            | HookDetail::PermissionDenied { tool_name, tool_input, .. } => {
                Some((tool_name, tool_input))
            }
            _ => None,
        }
    }

    /// What a matcher is compared with; events without it run every hook.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        match &self.detail {
            HookDetail::PreToolUse { tool_name, .. }
            | HookDetail::PostToolUse { tool_name, .. }
            | HookDetail::PostToolUseFailure { tool_name, .. }
            | HookDetail::PermissionRequest { tool_name, .. }
            | HookDetail::PermissionDenied { tool_name, .. } => Some(tool_name),
            HookDetail::SessionStart { source, .. } | HookDetail::ConfigChange { source, .. } => {
                Some(source)
            }
            HookDetail::SessionEnd { reason } => Some(reason),
            HookDetail::Notification { notification_type, .. } => Some(notification_type),
            HookDetail::SubagentStart {} | HookDetail::SubagentStop { .. } => {
                self.base.agent_type.as_deref()
            }
            HookDetail::PreCompact { trigger, .. }
            | HookDetail::PostCompact { trigger, .. }
            | HookDetail::Setup { trigger } => Some(trigger),
            HookDetail::UserPromptExpansion { command_name, .. } => Some(command_name),
            HookDetail::Elicitation { mcp_server_name, .. }
            | HookDetail::ElicitationResult { mcp_server_name, .. } => Some(mcp_server_name),
            HookDetail::InstructionsLoaded { load_reason, .. } => Some(load_reason),
            HookDetail::StopFailure { error, .. } => Some(error),
            HookDetail::FileChanged { file_path, .. } => {
                Some(file_path.rsplit('/').next().unwrap_or(file_path))
            }
            _ => None,
        }
    }
}
