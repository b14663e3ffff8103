//! What keeps a search small: a deadline, a token and a cap on what is kept.

use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// How long one search may take.
const LONGEST: Duration = Duration::from_secs(30);

/// Stops a search that takes too long or is not wanted any more.
#[derive(Debug)]
pub(super) struct Brake<'a> {
    cancel: &'a CancellationToken,
    deadline: Instant,
    timed_out: AtomicBool,
}

impl<'a> Brake<'a> {
    pub(super) fn new(cancel: &'a CancellationToken) -> Self {
        let deadline = Instant::now() + LONGEST;
        Self { cancel, deadline, timed_out: AtomicBool::new(false) }
    }

    /// Whether to stop.
    pub(super) fn is_pulled(&self) -> bool {
        if self.cancel.is_cancelled() {
            return true;
        }
        let late = Instant::now() >= self.deadline;
        if late {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        late
    }

    /// Whether the search ended because it took too long.
    pub(super) fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// A source that fails once the brake is pulled, so that even one huge file can be left.
#[derive(Debug)]
pub(super) struct Braked<'a, R> {
    pub(super) source: R,
    pub(super) brake: &'a Brake<'a>,
}

impl<R: io::Read> io::Read for Braked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.brake.is_pulled() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.source.read(buffer)
    }
}

/// Keeps the entries that come first in their order, and counts all.
#[derive(Debug)]
pub(super) struct Foremost<T> {
    most: usize,
    kept: BinaryHeap<T>,
    total: usize,
}

impl<T: Ord> Foremost<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, kept: BinaryHeap::new(), total: 0 }
    }

    pub(super) fn push(&mut self, entry: T) {
        self.total += 1;
        self.kept.push(entry);
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// How many entries there were.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The entries in their order.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}
