//! The port through which a team outlives the process it works in.

use serde::{Deserialize, Serialize};
use tillerman_protocol::EntryId;

/// Keeps the members of one team and their mail.
pub trait TeamFiles: Send + Sync + std::fmt::Debug {
    /// Everything that was kept.
    fn load(&self) -> Kept;

    /// Keeps what became of a member; the newest note about a name counts.
    ///
    /// # Errors
    /// A text for people that says what could not be kept and why.
    fn note(&self, member: &Member) -> Result<(), String>;

    /// Puts a letter into the mailbox of its receiver.
    ///
    /// # Errors
    /// A text for people that says why it could not be kept; it must not be delivered then.
    fn post(&self, letter: &Letter) -> Result<(), String>;

    /// Keeps that a letter was read, which is said once its receiver's transcript holds it.
    ///
    /// # Errors
    /// A text for people that says why that could not be kept.
    fn read(&self, receiver: &str, letter: &EntryId) -> Result<(), String>;

    /// Removes everything that was kept.
    ///
    /// # Errors
    /// A text for people that says what is left and why.
    fn remove(&self) -> Result<(), String>;
}

/// What was kept about a team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The members, in the order in which they joined.
    pub members: Vec<Member>,
    /// Letters that nobody has read, oldest first.
    pub unread: Vec<Letter>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// What the others call it.
    pub name: String,
    /// The agent that it is.
    pub agent_id: String,
    /// What kind of agent that is.
    pub agent_type: String,
    /// What it does.
    pub state: MemberState,
    /// Whether it was asked to leave and has not answered yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_to_leave: bool,
}

/// What a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberState {
    /// It works; after a restart that means that it was interrupted.
    Working,
    /// It has nothing to do, and mail wakes it.
    Resting,
    /// The process ended while it worked.
    Interrupted,
    /// It agreed to leave.
    Left,
}

impl MemberState {
    /// The state in words for models and people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Resting => "resting",
            Self::Interrupted => "interrupted",
            Self::Left => "left",
        }
    }
}

/// A letter from one member to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Names the letter, and the entry that stores it where it is read.
    pub id: EntryId,
    /// Who wrote it.
    pub from: String,
    /// Whom it is for.
    pub to: String,
    /// What it says.
    pub text: String,
}
