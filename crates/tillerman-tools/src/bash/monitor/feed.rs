//! Lines on their way from a command to the session: collected, counted, and held back when they
//! are too many.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tillerman_ports::{TaskDesk, TaskNews};
use tillerman_protocol::TaskId;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::config::MonitorLimits;

/// A line is cut behind so many bytes.
const LINE_BYTES: usize = 2_000;
/// How much waits to be told; what comes meanwhile is left out.
const WAITING_BYTES: usize = 16 * 1024;
/// A command that has not said too much for this long may begin anew.
const CALM: Duration = Duration::from_secs(5);

/// Lines on their way to the session. Clones are the same feed.
#[derive(Clone, Debug)]
pub(super) struct Feed(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: MonitorLimits,
    state: Mutex<State>,
    arrived: Notify,
    ended: CancellationToken,
}

#[derive(Debug)]
struct State {
    /// The line that is not complete yet, and whether some of it is left out.
    line: Vec<u8>,
    is_cut: bool,
    waiting: Vec<String>,
    waiting_bytes: usize,
    /// Lines that nobody is told, since the last telling and in all.
    left_out: u64,
    left_out_in_all: u64,
    /// How many more lines may come now.
    room: f64,
    counted_at: Instant,
    flood: Option<Flood>,
    is_flooded: bool,
}

/// A time in which more comes than can be told.
#[derive(Clone, Copy, Debug)]
struct Flood {
    since: Instant,
    last: Instant,
}

impl Feed {
    pub(super) fn new(limits: MonitorLimits) -> Self {
        let state = State {
            line: Vec::new(),
            is_cut: false,
            waiting: Vec::new(),
            waiting_bytes: 0,
            left_out: 0,
            left_out_in_all: 0,
            room: f64::from(limits.burst),
            counted_at: Instant::now(),
            flood: None,
            is_flooded: false,
        };
        let (arrived, ended) = (Notify::new(), CancellationToken::new());
        Self(Arc::new(Shared { limits, state: Mutex::new(state), arrived, ended }))
    }

    /// Takes in what the command has printed.
    pub(super) fn push(&self, piece: &[u8]) {
        let now = Instant::now();
        let mut state = self.state();
        let mut parts = piece.split(|byte| *byte == b'\n');
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            state.add(part);
            state.finish_line(&self.0.limits, now);
        }
        state.add(last);
        let waits = !state.waiting.is_empty();
        drop(state);
        if waits {
            self.0.arrived.notify_one();
        }
    }

    /// Nothing more comes; a line that was not completed is one too.
    pub(super) fn end(&self) {
        self.state().finish_line(&self.0.limits, Instant::now());
        self.0.ended.cancel();
    }

    /// Whether more has come than can be told, for longer than is borne.
    pub(super) fn is_flooded(&self) -> bool {
        self.state().is_flooded
    }

    /// How many lines nobody was told.
    pub(super) fn untold(&self) -> u64 {
        self.state().left_out_in_all
    }

    /// Tells the session what comes, until nothing more does or nobody is to be told any more.
    /// Returns what is left at the end, to be told together with it.
    ///
    /// # Cancel safety
    /// Lines that have not been told are lost when the future is dropped.
    pub(super) async fn speak(
        &self,
        task: &TaskId,
        desk: &dyn TaskDesk,
        stop: &CancellationToken,
    ) -> Option<String> {
        tokio::select! {
            biased;
            () = stop.cancelled() => None,
            rest = self.tell_all(task, desk) => rest,
        }
    }

    async fn tell_all(&self, task: &TaskId, desk: &dyn TaskDesk) -> Option<String> {
        let MonitorLimits { batch, pause, .. } = self.0.limits;
        let mut earliest = Instant::now();
        while self.something_waits().await {
            tokio::select! {
                () = sleep_until(earliest.max(Instant::now() + batch)) => {}
                () = self.0.ended.cancelled() => {}
            }
            let text = self.state().take();
            if self.0.ended.is_cancelled() {
                return Some(text);
            }
            desk.tell(TaskNews { task: task.clone(), text }).await;
            earliest = Instant::now() + pause;
        }
        None
    }

    /// Waits for lines; says whether there are any, which is not so when the feed has ended.
    async fn something_waits(&self) -> bool {
        loop {
            // Looked at first: what came before the end is there by then.
            let is_over = self.0.ended.is_cancelled();
            if !self.state().waiting.is_empty() {
                return true;
            }
            if is_over {
                return false;
            }
            tokio::select! {
                () = self.0.arrived.notified() => {}
                () = self.0.ended.cancelled() => {}
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, part: &[u8]) {
        let room = LINE_BYTES.saturating_sub(self.line.len()).min(part.len());
        self.line.extend_from_slice(&part[..room]);
        self.is_cut |= room < part.len();
    }

    /// A line is complete; one without words is none.
    fn finish_line(&mut self, limits: &MonitorLimits, now: Instant) {
        let bytes = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        let text = String::from_utf8_lossy(&bytes).replace(['\0', '\r'], " ");
        let text = text.trim_end();
        if text.is_empty() || !self.admits(limits, now) {
            return;
        }
        let line = if is_cut { format!("{text} […]") } else { text.to_owned() };
        self.waiting_bytes += line.len();
        self.waiting.push(line);
    }

    /// Whether a line may be told; each second there is room for one more.
    fn admits(&mut self, limits: &MonitorLimits, now: Instant) -> bool {
        let passed = now.duration_since(self.counted_at).as_secs_f64();
        self.room = (self.room + passed).min(f64::from(limits.burst));
        self.counted_at = now;
        if self.room >= 1.0 && self.waiting_bytes < WAITING_BYTES {
            self.room -= 1.0;
            return true;
        }
        let flood = self.flood.filter(|flood| now.duration_since(flood.last) < CALM);
        let since = flood.map_or(now, |flood| flood.since);
        self.flood = Some(Flood { since, last: now });
        self.is_flooded |= now.duration_since(since) >= limits.patience;
        self.left_out += 1;
        self.left_out_in_all += 1;
        false
    }

    fn take(&mut self) -> String {
        let mut lines = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        match std::mem::take(&mut self.left_out) {
            0 => {}
            1 => lines.push("[One more line came and is left out here.]".to_owned()),
            more => lines.push(format!("[{more} more lines came and are left out here.]")),
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests;
