//! A point in time after which no tool runs.

use std::time::Duration;

use tokio::time::Instant;

/// A point in time after which no tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// This long from now.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        let now = Instant::now();
        // What cannot be counted never passes; a century stands for it.
        Self(now.checked_add(duration).unwrap_or(now + Duration::from_secs(3_155_760_000)))
    }

    /// How much time is left; zero once it has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.remaining().is_zero()
    }
}
