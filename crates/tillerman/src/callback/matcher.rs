//! Which events a hook wants to hear of.

use std::time::Duration;

/// Which events of a kind a hook wants to hear of, and how long it may take.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct HookMatcher {
    pub(crate) pattern: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) blocks: bool,
}

impl HookMatcher {
    /// All of them.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those whose subject matches: a tool's name, several as in `Write|Edit`, or a pattern.
    pub fn of(pattern: impl Into<String>) -> Self {
        Self { pattern: Some(pattern.into()), ..Self::default() }
    }

    /// Gives the hook this long; the engine goes on without it afterwards.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Has a hook that fails, or does not answer in time, block what it was asked about.
    pub const fn block_on_failure(mut self) -> Self {
        self.blocks = true;
        self
    }
}

impl From<&str> for HookMatcher {
    fn from(pattern: &str) -> Self {
        match pattern {
            "" | "*" => Self::all(),
            pattern => Self::of(pattern),
        }
    }
}
