//! Everything a session says.

use serde_json::Value;
use tillerman_protocol::SessionId;
use tillerman_protocol::content::Block;
use tillerman_protocol::frame::{
    AssistantFrame, AuthStatus, CommandLifecycle, ConversationReset, Frame, Init, PromptSuggestion,
    RateLimitEvent, ResultFrame, StreamEventFrame, SystemDetail, SystemFrame, TaskNotification,
    ToolProgress, ToolUseSummary, UserFrame,
};
use tillerman_protocol::stream::{Delta, StreamEvent};

/// Something a session says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// One content block of the model: text, reasoning or a tool call.
    Assistant(Box<AssistantFrame>),
    /// A tool result, a replayed prompt, or a message that the engine wrote.
    User(Box<UserFrame>),
    /// News about the session.
    System(Box<SystemFrame>),
    /// The end of a prompt round. More may follow, also further results.
    Result(Box<ResultFrame>),
    /// A raw event of a response; only with `include_partial_messages`.
    StreamEvent(Box<StreamEventFrame>),
    /// A tool is still running.
    ToolProgress(ToolProgress),
    /// What a few calls did together, in a sentence.
    ToolUseSummary(ToolUseSummary),
    /// How far signing in has come.
    AuthStatus(AuthStatus),
    /// How close an account is to its limits.
    RateLimit(RateLimitEvent),
    /// What the person may want to say next.
    PromptSuggestion(PromptSuggestion),
    /// The conversation starts over under a new id.
    ConversationReset(ConversationReset),
    /// How far a prompt with an id of the caller's choice has come.
    PromptProgress(CommandLifecycle),
    /// One of your callbacks panicked; what it was asked about was denied.
    CallbackFailed(CallbackFailure),
    /// A frame that this version does not know, as it came.
    Unknown(Value),
}

/// A callback that panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallbackFailure {
    /// Which callback, as in `can_use_tool` or `hook PreToolUse`.
    pub callback: String,
    /// What it was asked about, such as the tool.
    pub subject: String,
    /// What it said when it panicked.
    pub message: String,
}

impl Message {
    /// The message that a frame carries; nothing for frames that are not meant for callers.
    pub(crate) fn of(frame: Frame) -> Option<Self> {
        Some(match frame {
            Frame::Assistant(frame) => Self::Assistant(frame),
            Frame::User(frame) => Self::User(frame),
            Frame::System(frame) => Self::System(frame),
            Frame::Result(frame) => Self::Result(frame),
            Frame::StreamEvent(frame) => Self::StreamEvent(frame),
            Frame::ToolProgress(frame) => Self::ToolProgress(frame),
            Frame::ToolUseSummary(frame) => Self::ToolUseSummary(frame),
            Frame::AuthStatus(frame) => Self::AuthStatus(frame),
            Frame::RateLimitEvent(frame) => Self::RateLimit(frame),
            Frame::PromptSuggestion(frame) => Self::PromptSuggestion(frame),
            Frame::ConversationReset(frame) => Self::ConversationReset(frame),
            Frame::CommandLifecycle(frame) => Self::PromptProgress(frame),
            Frame::Unknown(value) => Self::Unknown(value),
            Frame::ControlRequest(_)
            | Frame::ControlResponse(_)
            | Frame::ControlCancelRequest(_)
            | Frame::TranscriptMirror(_)
            | Frame::UpdateEnvironmentVariables(_)
            | Frame::KeepAlive => return None,
        })
    }

    /// The text of an assistant message, if it is one with text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Assistant(frame) => frame.message.content.iter().find_map(Block::as_text),
            _ => None,
        }
    }

    /// The piece of text that a partial message adds, if it adds one.
    #[must_use]
    pub fn text_delta(&self) -> Option<&str> {
        let Self::StreamEvent(frame) = self else { return None };
        match &frame.event {
            StreamEvent::ContentBlockDelta { delta: Delta::TextDelta { text }, .. } => Some(text),
            _ => None,
        }
    }

    /// The tool call of an assistant message: id, name and input.
    #[must_use]
    pub fn tool_call(&self) -> Option<(&str, &str, &Value)> {
        let Self::Assistant(frame) = self else { return None };
        frame.message.content.iter().find_map(|block| match block {
            Block::ToolUse { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }

    /// The result, if this ends a round.
    #[must_use]
    pub fn as_result(&self) -> Option<&ResultFrame> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }

    /// What the round runs with, if this opens one.
    #[must_use]
    pub fn as_init(&self) -> Option<&Init> {
        match self.as_system()? {
            SystemDetail::Init(init) => Some(init),
            _ => None,
        }
    }

    /// The end of a background task, if this reports one.
    #[must_use]
    pub fn as_task_notification(&self) -> Option<&TaskNotification> {
        match self.as_system()? {
            SystemDetail::TaskNotification(notification) => Some(notification),
            _ => None,
        }
    }

    /// The news, if this is some.
    #[must_use]
    pub fn as_system(&self) -> Option<&SystemDetail> {
        match self {
            Self::System(frame) => Some(&frame.detail),
            _ => None,
        }
    }

    /// The session it belongs to, where it says so.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        match self {
            Self::Assistant(frame) => Some(&frame.session_id),
            Self::User(frame) => frame.session_id.as_ref(),
            Self::System(frame) => Some(&frame.session_id),
            Self::Result(frame) => Some(&frame.session_id),
            Self::StreamEvent(frame) => Some(&frame.session_id),
            Self::ToolProgress(frame) => Some(&frame.session_id),
            Self::ToolUseSummary(frame) => Some(&frame.session_id),
            Self::AuthStatus(frame) => Some(&frame.session_id),
            Self::RateLimit(frame) => Some(&frame.session_id),
            Self::PromptSuggestion(frame) => Some(&frame.session_id),
            Self::ConversationReset(frame) => Some(&frame.session_id),
            Self::PromptProgress(frame) => Some(&frame.session_id),
            Self::CallbackFailed(_) | Self::Unknown(_) => None,
        }
    }

    /// The call whose subagent this belongs to; nothing for the main agent.
    #[must_use]
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        let parent = match self {
            Self::Assistant(frame) => &frame.parent_tool_use_id,
            Self::User(frame) => &frame.parent_tool_use_id,
            Self::StreamEvent(frame) => &frame.parent_tool_use_id,
            Self::ToolProgress(frame) => &frame.parent_tool_use_id,
            _ => return None,
        };
        parent.as_ref().map(tillerman_protocol::ToolUseId::as_str)
    }
}
