//! What a session asks its host: permission, hooks, questions.
//!
//! Callbacks are async closures. The future of one whose answer is no longer wanted, because the
//! round was interrupted or the hook's time is over, is dropped. One that panics denies what it
//! was asked about, and a [`Message::CallbackFailed`](crate::Message::CallbackFailed) says so.

mod ask;
mod elicitation;
mod permission;
mod question;

mod answers;
mod matcher;
mod points;

mod register;

pub(crate) use ask::{Ask, ask};

pub use answers::{
    GreetingAnswer, Observed, PermissionRequestAnswer, PromptAnswer, StopAnswer, ToolAnswer,
    ToolReview,
};
pub use elicitation::{Elicitation, ElicitationAnswer};
pub use matcher::HookMatcher;
pub use permission::{Permission, ToolRequest};
pub use points::{
    HookPoint, Notification, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact,
    PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
};
pub use question::{Choice, Question, Questions, QuestionsAnswer};
pub(crate) use register::{Hook, HookTable};

pub use tillerman_protocol::hook::{
    HookBase, HookDetail, HookEvent, HookInput, HookOutput, HookSpecificOutput,
};
pub use tillerman_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};
