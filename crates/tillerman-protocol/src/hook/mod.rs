//! Hook events, what a hook is told and what it may answer, and hooks as they are written down.

mod event;
mod input;
mod output;
mod subject;

mod handler;
mod section;

pub use event::{HookEvent, HookRegistration};
pub use handler::{CommandHook, HookAction, HookHandler, HttpHook, McpToolHook, PromptHook};
pub use input::{
    BackgroundWork, Effort, HookBase, HookDetail, HookInput, ModelSwitch, TaskSubject,
};
pub use output::{HookOutput, HookSpecificOutput};
pub use section::{HookGroup, HookScope, HookSection, HookSource};
