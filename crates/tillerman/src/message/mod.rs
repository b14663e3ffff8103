//! What a session says and what it is told.
//!
//! [`Message`] is everything a session says, [`Prompt`] what it is told, and [`Answer`] what is
//! left of a round once it is over. The types inside are those of the wire: fields that this
//! version does not know arrive in `extra`, frames that it does not know as
//! [`Message::Unknown`].

mod answer;
mod kind;
mod prompt;

pub use answer::Answer;
pub use kind::{CallbackFailure, Message};
pub use prompt::{Prompt, Prompts};

pub use tillerman_protocol::content::{Block, Content, Role, ToolResult};
pub use tillerman_protocol::frame::{
    ApiRetry, AssistantFrame, AssistantMessage, AuthStatus, CommandLifecycle, CompactMetadata,
    ConversationReset, HookProgress, HookResponse, HookStarted, Init, McpServerState, ModelUsage,
    PermissionDenial, PermissionDenied, PromptSuggestion, RateLimit, RateLimitEvent, ResultFrame,
    ResultSubtype, SessionState, StreamEventFrame, SystemDetail, SystemFrame, TaskNotification,
    TaskPatch, TaskProgress, TaskStarted, TaskSummary, TaskUpdated, TaskUsage, ToolProgress,
    ToolResultMeta, ToolUseSummary, UserFrame,
};
pub use tillerman_protocol::stream::{Delta, StreamEvent, Usage};
