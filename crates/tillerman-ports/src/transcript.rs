//! Where the entries of a session go.

use tillerman_protocol::SessionId;
use tillerman_protocol::transcript::Entry;

use crate::model::BoxFuture;

/// The open transcript of one session. It has one owner, the session's task.
pub trait Transcript: Send + std::fmt::Debug {
    /// Appends an entry with a single write; on failure nothing of it is left behind.
    ///
    /// # Errors
    /// When the entry could not be written whole.
    fn append(&mut self, entry: &Entry) -> Result<(), AppendError>;

    /// Makes everything appended so far survive a loss of power.
    ///
    /// # Cancel safety
    /// The synchronisation goes on when the future is dropped; only its outcome is lost.
    fn sync(&mut self) -> BoxFuture<Result<(), AppendError>>;

    /// Leaves the entries so far as they are; those to come belong to another session. Where
    /// nothing is kept, nothing changes.
    fn start_over(&mut self, _session: &SessionId) {}

    /// The file the entries go to, for hosts; empty when nothing is kept.
    fn path(&self) -> String;
}

/// Why an entry could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the transcript {path}")]
pub struct AppendError {
    /// The file.
    pub path: String,
    /// Whether trying again may help, as when a disk is full.
    pub may_pass: bool,
    /// What the system said.
    #[source]
    pub source: std::io::Error,
}
