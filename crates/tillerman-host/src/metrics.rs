//! Numbers about the host, in the text form that Prometheus reads.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Bounds of the buckets for durations, in milliseconds.
const BOUNDS: [u64; 9] = [1, 2, 5, 10, 25, 50, 100, 250, 1_000];

/// Numbers that only grow, numbers that go up and down, and one distribution.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) events: AtomicU64,
    pub(crate) cards: AtomicU64,
    pub(crate) answers: AtomicU64,
    pub(crate) runs_started: AtomicU64,
    pub(crate) runs_broken: AtomicU64,
    pub(crate) outages: AtomicU64,
    pub(crate) slow_clients: AtomicU64,
    pub(crate) sockets: AtomicI64,
    pub(crate) sessions: AtomicI64,
    store: Histogram,
}

#[derive(Debug, Default)]
struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    count: AtomicU64,
    micros: AtomicU64,
}

impl Metrics {
    /// Counts one more.
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes how long it took until something was stored.
    pub(crate) fn stored_in(&self, taken: std::time::Duration) {
        let millis = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
        let micros = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        for (bucket, bound) in self.store.buckets.iter().zip(BOUNDS) {
            if millis < bound {
                Self::count(bucket);
            }
        }
        Self::count(&self.store.count);
        self.store.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Everything as text.
    pub(crate) fn render(&self, version: &str) -> String {
        let mut text = String::new();
        let counters = [
            ("http_requests_total", "Requests taken in.", &self.requests),
            ("http_refused_total", "Requests refused before they were read.", &self.refused),
            ("events_total", "Events stored.", &self.events),
            ("approvals_total", "Cards made.", &self.cards),
            ("approval_answers_total", "Cards answered by people.", &self.answers),
            ("runs_started_total", "Runs started.", &self.runs_started),
            ("runs_broken_total", "Runs that ended when they should not have.", &self.runs_broken),
            ("outages_total", "Pauses because a provider was out of order.", &self.outages),
            (
                "slow_clients_total",
                "Sockets closed because they were too slow.",
                &self.slow_clients,
            ),
        ];
        for (name, help, value) in counters {
            write_number(&mut text, name, help, "counter", &value.load(Ordering::Relaxed));
        }
        let gauges = [
            ("sockets", "Sockets open now.", &self.sockets),
            ("sessions", "Sessions alive now.", &self.sessions),
        ];
        for (name, help, value) in gauges {
            write_number(&mut text, name, help, "gauge", &value.load(Ordering::Relaxed));
        }
        self.write_store(&mut text);
        let info = "tillerman_build_info";
        text.push_str(&format!("# TYPE {info} gauge\n{info}{{version=\"{version}\"}} 1\n"));
        text
    }

    #[expect(clippy::cast_precision_loss, reason = "a sum of seconds needs no more digits")]
    fn write_store(&self, text: &mut String) {
        let name = "tillerman_store_seconds";
        let mut write = |line: String| text.push_str(&format!("{line}\n"));
        write(format!("# HELP {name} Time until a change was on the disk."));
        write(format!("# TYPE {name} histogram"));
        for (bucket, bound) in self.store.buckets.iter().zip(BOUNDS) {
            let seconds = bound as f64 / 1_000.0;
            let count = bucket.load(Ordering::Relaxed);
            write(format!("{name}_bucket{{le=\"{seconds}\"}} {count}"));
        }
        let count = self.store.count.load(Ordering::Relaxed);
        let sum = self.store.micros.load(Ordering::Relaxed) as f64 / 1e6;
        write(format!("{name}_bucket{{le=\"+Inf\"}} {count}"));
        write(format!("{name}_sum {sum}\n{name}_count {count}"));
    }
}

fn write_number(
    text: &mut String,
    name: &str,
    help: &str,
    kind: &str,
    value: &impl std::fmt::Display,
) {
    let name = format!("tillerman_{name}");
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
}
