//! Hook events, what a hook is told and what it may answer.

mod event;
mod input;
mod output;

pub use event::{HookEvent, HookRegistration};
pub use input::{HookBase, HookDetail, HookInput, ModelSwitch, TaskSubject};
pub use output::{HookOutput, HookSpecificOutput};
