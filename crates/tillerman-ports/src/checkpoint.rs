//! The port to file checkpoints: what the working directories held when a prompt came in.

use std::path::PathBuf;

use serde_json::{Value, json};
use tillerman_protocol::EntryId;

use crate::model::BoxFuture;

/// Keeps the state of working directories so that it can be brought back.
pub trait Checkpoints: Send + Sync + std::fmt::Debug {
    /// Keeps the present state of the directories under the names of these messages.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the checkpoint; what was kept before stays as it is.
    fn take(
        &self,
        messages: Vec<EntryId>,
        directories: Vec<PathBuf>,
    ) -> BoxFuture<Result<Taken, CheckpointError>>;

    /// Brings back what the directories held when a message came in. The state before that is
    /// kept too, under the name that [`Rewound::undo`] gives.
    ///
    /// # Cancel safety
    /// A rewind that has begun goes on when the future is dropped, since half of one helps nobody.
    fn rewind(
        &self,
        message: EntryId,
        extent: Extent,
    ) -> BoxFuture<Result<Rewound, CheckpointError>>;
}

/// How far a rewind goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only find out what would change.
    DryRun,
    /// Change the files.
    Whole,
}

/// A checkpoint that was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many files it covers.
    pub files: u64,
    /// What people should know about it, such as files that are too large; each is said once.
    pub notes: Vec<String>,
}

/// What a rewind changed, or would change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewound {
    /// Files that were written or deleted, the first few thousand of them.
    pub files: Vec<String>,
    /// How many files were written.
    pub restored: u64,
    /// How many files were deleted because they were made later.
    pub deleted: u64,
    /// Lines that came back.
    pub insertions: u64,
    /// Lines that went away.
    pub deletions: u64,
    /// Links and special files that were left as they are.
    pub skipped_links: u64,
    /// Files with several names that were restored under one of them only.
    pub split_links: u64,
    /// Files that differ and whose contents were never kept.
    pub not_kept: u64,
    /// Files that an undo cannot bring back, since what they held before was not kept either.
    pub beyond_undo: u64,
    /// Files and directories that could not be changed, each with the reason.
    pub failed: Vec<String>,
    /// The name of the state before the rewind; rewinding to it undoes this rewind.
    pub undo: Option<EntryId>,
}

impl Rewound {
    /// The answer that hosts get. Beyond the usual fields it names only what there is to say.
    #[must_use]
    pub fn answer(&self) -> Value {
        let can_rewind = self.restored + self.deleted > 0 || self.failed.is_empty();
        let mut answer = json!({
            "canRewind": can_rewind,
            "filesChanged": self.files,
            "insertions": self.insertions,
            "deletions": self.deletions,
            "skippedLinks": self.skipped_links,
            "filesRestored": self.restored,
            "filesDeleted": self.deleted,
        });
        let more = [
            ("splitHardLinks", self.split_links),
            ("filesNotKept", self.not_kept),
            ("filesBeyondUndo", self.beyond_undo),
        ];
        for (name, count) in more.into_iter().filter(|(_, count)| *count > 0) {
            answer[name] = json!(count);
        }
        if !self.failed.is_empty() {
            answer["failed"] = json!(self.failed);
        }
        if !can_rewind {
            let reasons = self.failed.join("; ");
            answer["error"] = json!(format!("Nothing could be restored: {reasons}"));
        }
        if let Some(undo) = &self.undo {
            answer["undoId"] = json!(undo);
        }
        answer
    }
}

/// Why a checkpoint could not be taken or used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Nothing was kept under this name.
    #[error("No file checkpoint found for this message.")]
    Unknown,
    /// Nobody waits for the checkpoint any more.
    #[error("the checkpoint was abandoned before it was whole")]
    Abandoned,
    /// There is more to keep than a checkpoint may hold.
    #[error("{0}")]
    TooMuch(String),
    /// The system refused a file operation.
    #[error("{what}")]
    Io {
        /// What could not be done.
        what: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}
