//! What travels between the host and its clients, one file per thing.

mod approval;
mod conversation;
mod elicitation;
mod event;
mod file;
mod message;
mod project;
mod request;
mod usage;

pub use approval::{Approval, ApprovalKind, ApprovalState, Display, Suggestion};
pub use conversation::{Conversation, ConversationState};
pub use elicitation::{Elicitation, FieldChoice, FieldKind, FormField, TextFormat};
pub use event::{AttachmentNote, Event, RunState};
pub use file::{DocumentFiles, FileProblem};
pub use message::{Accepted, Attachment, NewMessage};
pub use project::{Agent, Persona, Project, Skill};
pub use request::{
    AnswerRequest, ApprovalMode, ApprovalPolicy, ConversationPatch, Decision, NewConversation,
    RewindAnswer, RewindRequest,
};
pub use usage::{DayUsage, ModelSpending, ProjectSpending, Usage};
