//! How long things take, in buckets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often something took how long.
#[derive(Debug)]
pub(crate) struct Histogram {
    /// Upper bounds in seconds, ascending.
    bounds: &'static [f64],
    /// One for each bound and one for everything beyond.
    buckets: Vec<AtomicU64>,
    micros: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, PartialEq)]
pub(crate) struct Snapshot {
    /// Bounds, and how often it took no longer than that.
    pub(crate) buckets: Vec<(f64, u64)>,
    /// How often it happened.
    pub(crate) count: u64,
    /// How long it took altogether, in seconds.
    pub(crate) sum: f64,
}

impl Histogram {
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::default()).collect();
        Self { bounds, buckets, micros: AtomicU64::default() }
    }

    pub(crate) fn note(&self, taken: Duration) {
        let seconds = taken.as_secs_f64();
        let place = self.bounds.partition_point(|bound| *bound < seconds);
        if let Some(bucket) = self.buckets.get(place) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The numbers as they are now; the last bucket and the count always agree.
    #[expect(clippy::cast_precision_loss, reason = "a sum of seconds needs no more digits")]
    pub(crate) fn read(&self) -> Snapshot {
        let mut count = 0;
        let mut all = Vec::with_capacity(self.bounds.len());
        for (bucket, bound) in self.buckets.iter().zip(self.bounds) {
            count += bucket.load(Ordering::Relaxed);
            all.push((*bound, count));
        }
        count += self.buckets.last().map_or(0, |bucket| bucket.load(Ordering::Relaxed));
        let sum = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        Snapshot { buckets: all, count, sum }
    }
}
