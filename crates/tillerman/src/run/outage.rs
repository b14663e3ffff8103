//! Counts failures of the provider in a row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, ErrorKind, Retry};

/// Failures in a row that make an outage.
const THRESHOLD: u32 = 3;

/// Counts failures of the provider in a row. Clones share the count, so that it survives a run
/// that is started again; keep one for each session.
#[derive(Clone, Debug, Default)]
pub struct Outages {
    in_a_row: Arc<AtomicU32>,
}

impl Outages {
    /// No failures so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Failures of the provider since the last time something else happened.
    #[must_use]
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row.load(Ordering::Relaxed)
    }

    /// A round worked.
    pub(crate) fn worked(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }

    /// Something failed. Whether that makes an outage.
    pub(crate) fn failed(&self, error: &Error) -> bool {
        let is_provider = matches!(error.kind(), ErrorKind::Api | ErrorKind::Connection);
        if !(is_provider && error.retry() == Retry::AfterPause) {
            self.worked();
            return false;
        }
        self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= THRESHOLD
    }
}
