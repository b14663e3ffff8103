//! What travels between the host and its clients, one file per thing.

mod approval;
mod conversation;
mod event;
mod message;
mod project;
mod request;
mod usage;

pub use approval::{Approval, ApprovalKind, ApprovalState, Display, Suggestion};
pub use conversation::{Conversation, ConversationState};
pub use event::{AttachmentNote, Event, RunState};
pub use message::{Accepted, Attachment, NewMessage};
pub use project::{Persona, Project, Skill};
pub use request::{
    AnswerRequest, ApprovalMode, ApprovalPolicy, ConversationPatch, Decision, NewConversation,
    RewindAnswer, RewindRequest,
};
pub use usage::{DayUsage, ModelSpending, ProjectSpending, Usage};
