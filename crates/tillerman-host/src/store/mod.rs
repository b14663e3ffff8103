//! The database of the host: a projection of the transcripts, and what only the host knows.

mod migrations;
mod open;
mod writer;

mod access;
mod inspect;

mod approvals;
mod attachments;
mod audit;
mod choices;
mod conversations;
mod documents;
mod events;
mod messages;
mod search;
mod usage;
mod users;

pub use access::{Store, StoreError};
pub(crate) use approvals::{AnswerOutcome, Settled, StoredApproval};
pub(crate) use attachments::{AttachmentRow, address};
pub(crate) use audit::AuditNote;
pub(crate) use choices::{first_owner, policy, set_policy};
pub(crate) use conversations::{ConversationRow, ListQuery};
pub(crate) use documents::{FileRow, Kind};
pub(crate) use events::NewEvent;
pub use inspect::{DataInspection, DatabaseState};
pub(crate) use messages::{MessageRow, MessageState};
pub use open::OpenStoreError;
pub(crate) use search::{Among, search};
pub(crate) use usage::{UsageRow, day_of};
pub(crate) use users::UserRow;
