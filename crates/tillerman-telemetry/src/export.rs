//! The queue of spans and the task that sends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tillerman_ports::Observer;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::client::{Collector, PostError};
use crate::settings::{Capture, Protocol, TelemetrySettings};
use crate::span::Span;
use crate::watch::{About, Watch};
use crate::{json, protobuf};

/// How often a batch is sent before it is given up.
const MOST_TRIES: u32 = 3;
/// How long to wait before the second try; the third waits twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest a collector may ask to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What became of spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TelemetryCounts {
    /// Spans that a collector took.
    pub sent: u64,
    /// Spans that found no room in the queue.
    pub dropped: u64,
    /// Spans that no collector took.
    pub failed: u64,
}

/// Where spans are put. Clones share one queue.
#[derive(Clone, Debug)]
pub struct Telemetry {
    queue: mpsc::Sender<Span>,
    counts: Arc<Counts>,
    settings: Arc<TelemetrySettings>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// A queue for spans, and what sends them once it is run.
#[must_use]
pub fn start(settings: TelemetrySettings) -> (Telemetry, Exporter) {
    let (queue, waiting) = mpsc::channel(settings.queue);
    let (counts, settings) = (Arc::new(Counts::default()), Arc::new(settings));
    let exporter =
        Exporter { waiting, counts: Arc::clone(&counts), settings: Arc::clone(&settings) };
    (Telemetry { queue, counts, settings }, exporter)
}

impl Telemetry {
    /// Somebody who watches a session. It stands below the span of the program that started this
    /// one, where there is such a span.
    #[must_use]
    pub fn observer(&self, about: About) -> Box<dyn Observer> {
        let above = self.settings.parent.map(|parent| parent.place);
        Box::new(Watch::new(self.clone(), about, above))
    }

    /// What became of spans so far.
    #[must_use]
    pub fn counts(&self) -> TelemetryCounts {
        TelemetryCounts {
            sent: self.counts.sent.load(Ordering::Relaxed),
            dropped: self.counts.dropped.load(Ordering::Relaxed),
            failed: self.counts.failed.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn capture(&self) -> Capture {
        self.settings.capture
    }

    /// Puts a span into the queue; one that finds no room is dropped and counted.
    pub(crate) fn put(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            let before = self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            if before == 0 {
                tracing::warn!("spans are made faster than they can be sent; some are left out");
            }
        }
    }
}

/// Sends spans.
#[derive(Debug)]
pub struct Exporter {
    waiting: mpsc::Receiver<Span>,
    counts: Arc<Counts>,
    settings: Arc<TelemetrySettings>,
}

impl Exporter {
    /// Sends spans until it is told to end, then sends what waits.
    ///
    /// # Cancel safety
    /// Dropping the future loses the spans that wait, and nothing else.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut collector = None;
        let mut has_complained = false;
        loop {
            let (batch, is_last) = self.gather(&stop).await;
            if !batch.is_empty() {
                let sent = self.send(&mut collector, &batch, &stop).await;
                let count = batch.len() as u64;
                match sent {
                    Ok(()) => {
                        has_complained = false;
                        self.counts.sent.fetch_add(count, Ordering::Relaxed);
                    }
                    Err(error) => {
                        self.counts.failed.fetch_add(count, Ordering::Relaxed);
                        // Once for each time that it is out of order.
                        if !std::mem::replace(&mut has_complained, true) {
                            let endpoint = self.settings.shown_endpoint();
                            tracing::warn!("{endpoint} did not take traces: {error}");
                        }
                    }
                }
            }
            if is_last && self.waiting.is_empty() {
                return;
            }
        }
    }

    /// The next spans, and whether they are the last ones.
    async fn gather(&mut self, stop: &CancellationToken) -> (Vec<Span>, bool) {
        let mut batch = Vec::new();
        tokio::select! {
            biased;
            count = self.waiting.recv_many(&mut batch, self.settings.batch) => {
                if count == 0 {
                    return (batch, true);
                }
            }
            () = stop.cancelled() => return (batch, true),
        }
        let patience = tokio::time::sleep(self.settings.delay);
        tokio::pin!(patience);
        while batch.len() < self.settings.batch {
            let room = self.settings.batch - batch.len();
            tokio::select! {
                biased;
                count = self.waiting.recv_many(&mut batch, room) => {
                    if count == 0 {
                        return (batch, true);
                    }
                }
                () = stop.cancelled() => return (batch, true),
                () = &mut patience => break,
            }
        }
        (batch, false)
    }

    async fn send(
        &self,
        collector: &mut Option<Collector>,
        batch: &[Span],
        stop: &CancellationToken,
    ) -> Result<(), PostError> {
        let collector = match collector {
            Some(collector) => collector,
            None => collector.insert(Collector::new(&self.settings)?),
        };
        let resource = &self.settings.resource;
        let body = match self.settings.protocol {
            Protocol::Protobuf => protobuf::request(resource, batch),
            Protocol::Json => json::request(resource, batch),
        };
        let mut pause = PAUSE;
        for _ in 1..MOST_TRIES {
            let Err(error) = collector.post(body.clone()).await else { return Ok(()) };
            let Some(wait) = error.retry_after(pause).filter(|_| !stop.is_cancelled()) else {
                return Err(error);
            };
            pause *= 2;
            tokio::select! {
                () = tokio::time::sleep(wait.min(LONGEST_PAUSE)) => {}
                () = stop.cancelled() => {}
            }
        }
        collector.post(body).await
    }
}
