//! What confined commands tried and were refused.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many violations are kept; the oldest go first.
const MOST: usize = 256;

/// Something a command tried and was refused, or did and was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What it concerns.
    pub kind: ViolationKind,
    /// What was tried, as a sentence for people.
    pub text: String,
}

/// What a violation concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// A guarded file.
    File,
    /// The network.
    Network,
}

impl ViolationKind {
    /// The name under which settings know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Network => "network",
        }
    }
}

/// The newest violations.
#[derive(Debug, Default)]
pub(crate) struct ViolationLog {
    entries: Mutex<VecDeque<Violation>>,
}

impl ViolationLog {
    pub(crate) fn add(&self, kind: ViolationKind, text: String) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == MOST {
            entries.pop_front();
        }
        entries.push_back(Violation { kind, text });
    }

    /// Takes out what has come together.
    pub(crate) fn take(&self) -> Vec<Violation> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.drain(..).collect()
    }
}
