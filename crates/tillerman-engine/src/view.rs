//! What can be seen of a session from outside.

use tillerman_protocol::EntryId;
use tillerman_protocol::permission::PermissionMode;

use crate::config::SessionConfig;
use crate::conversation::Conversation;
use crate::ledger::Ledger;
use crate::session::{Activity, Door, Session};

impl Session {
    /// What the session is doing.
    #[must_use]
    pub const fn activity(&self) -> Activity {
        match (self.door, &self.round) {
            (Door::Ended, _) => Activity::Ended,
            (_, None) if !self.threshold.is_busy() => Activity::Idle,
            _ => Activity::Running,
        }
    }

    /// The permission mode in force.
    #[must_use]
    pub const fn mode(&self) -> PermissionMode {
        self.choices.mode
    }

    /// The model that answers the next round.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.choices.model
    }

    /// The conversation so far.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What was used and spent so far.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What the session was started with.
    #[must_use]
    pub const fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Whether the newest round ended in an error.
    #[must_use]
    pub const fn last_result_failed(&self) -> bool {
        self.last_result_failed
    }

    /// Ids of the prompts that still wait.
    #[must_use]
    pub fn queued(&self) -> Vec<EntryId> {
        self.queue.iter().filter_map(|prompt| prompt.uuid.clone()).collect()
    }
}
