//! Numbers about the host, in the text form that Prometheus reads.

mod exposition;
mod histogram;
mod kept;
mod models;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use exposition::Exposition;
use histogram::Histogram;

pub(crate) use kept::Kept;
pub(crate) use models::{ModelMetrics, Spent};

use crate::settings::FurtherCounters;

/// Bounds of the buckets for what a machine does by itself, in seconds.
const QUICK: [f64; 12] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// Numbers that only grow, numbers that go up and down, and distributions.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) events: AtomicU64,
    pub(crate) cards: AtomicU64,
    pub(crate) answers: AtomicU64,
    pub(crate) runs_started: AtomicU64,
    pub(crate) runs_broken: AtomicU64,
    pub(crate) runs_restarted: AtomicU64,
    pub(crate) outages: AtomicU64,
    pub(crate) slow_clients: AtomicU64,
    pub(crate) sockets: AtomicI64,
    pub(crate) sdk_sockets: AtomicI64,
    pub(crate) sessions: AtomicI64,
    pub(crate) models: ModelMetrics,
    /// Answers by the first digit of their status.
    responses: [AtomicU64; 5],
    http: Histogram,
    store: Histogram,
    lag: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: AtomicU64::default(),
            refused: AtomicU64::default(),
            events: AtomicU64::default(),
            cards: AtomicU64::default(),
            answers: AtomicU64::default(),
            runs_started: AtomicU64::default(),
            runs_broken: AtomicU64::default(),
            runs_restarted: AtomicU64::default(),
            outages: AtomicU64::default(),
            slow_clients: AtomicU64::default(),
            sockets: AtomicI64::default(),
            sdk_sockets: AtomicI64::default(),
            sessions: AtomicI64::default(),
            models: ModelMetrics::default(),
            responses: std::array::from_fn(|_| AtomicU64::default()),
            http: Histogram::new(&QUICK),
            store: Histogram::new(&QUICK),
            lag: Histogram::new(&QUICK),
        }
    }
}

impl Metrics {
    /// Counts one more.
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes how long it took until something was stored.
    pub(crate) fn stored_in(&self, taken: Duration) {
        self.store.note(taken);
    }

    /// Notes how long it took from an event until a socket had it.
    pub(crate) fn shown_in(&self, taken: Duration) {
        self.lag.note(taken);
    }

    /// Notes how a request was answered and how long that took.
    pub(crate) fn answered_in(&self, status: u16, taken: Duration) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.responses.get(class) {
            Self::count(counter);
        }
        self.http.note(taken);
    }

    /// Everything as text. What the database could not tell is left out.
    pub(crate) fn render(
        &self,
        version: &str,
        kept: Option<&Kept>,
        further: Option<&FurtherCounters>,
    ) -> String {
        let mut text = Exposition::default();
        self.write_counters(&mut text);
        self.write_gauges(&mut text);
        if let Some(kept) = kept {
            kept.write(&mut text);
        }
        self.models.write(&mut text);
        text.histogram("http_request_seconds", "Time until a request was answered.", &self.http);
        text.histogram("store_seconds", "Time until a change was on the disk.", &self.store);
        text.histogram(
            "event_socket_seconds",
            "Time from an event to the socket of a client that follows.",
            &self.lag,
        );
        for (name, help, value) in further.map(FurtherCounters::read).unwrap_or_default() {
            text.counter(name, help, value);
        }
        text.family("build_info", "The program that runs.", "gauge");
        text.sample("build_info", &[("version", version)], 1);
        text.finish()
    }

    fn write_counters(&self, text: &mut Exposition) {
        let counters = [
            ("http_requests_total", "Requests taken in.", &self.requests),
            ("http_refused_total", "Requests refused before they were read.", &self.refused),
            ("events_total", "Events stored.", &self.events),
            ("approvals_total", "Cards made.", &self.cards),
            ("approval_answers_total", "Cards answered by people.", &self.answers),
            ("runs_started_total", "Runs started.", &self.runs_started),
            ("runs_broken_total", "Runs that ended when they should not have.", &self.runs_broken),
            ("runs_restarted_total", "Runs started again after they broke.", &self.runs_restarted),
            ("outages_total", "Pauses because a provider was out of order.", &self.outages),
            (
                "slow_clients_total",
                "Sockets closed because they were too slow.",
                &self.slow_clients,
            ),
        ];
        for (name, help, value) in counters {
            text.counter(name, help, value.load(Ordering::Relaxed));
        }
        text.family("http_responses_total", "Requests answered, by class of status.", "counter");
        for (class, counter) in self.responses.iter().enumerate() {
            let class = format!("{}xx", class + 1);
            let count = counter.load(Ordering::Relaxed);
            text.sample("http_responses_total", &[("class", &class)], count);
        }
    }

    fn write_gauges(&self, text: &mut Exposition) {
        let gauges = [
            ("sockets", "Sockets of pages open now.", &self.sockets),
            ("sdk_sockets", "Sockets of SDKs open now.", &self.sdk_sockets),
            ("sessions", "Sessions of conversations alive now.", &self.sessions),
        ];
        for (name, help, value) in gauges {
            text.gauge(name, help, value.load(Ordering::Relaxed));
        }
    }
}
