//! Requests to models: how many, how long, how many failed, and what they cost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::metrics::exposition::Exposition;
use crate::metrics::histogram::Histogram;

/// Bounds of the buckets for answers of models, in seconds.
const SLOW: [f64; 11] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// Names that are told apart; all further ones are one.
const MOST_NAMES: usize = 50;
const OTHER: &str = "other";

/// What all conversations ask of models.
#[derive(Debug)]
pub(crate) struct ModelMetrics {
    answered: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    errors: Mutex<BTreeMap<String, u64>>,
    whole: Histogram,
    first: Histogram,
    spent: Mutex<BTreeMap<String, Spent>>,
}

/// Tokens and dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
    pub(crate) output: u64,
    pub(crate) usd: f64,
}

impl Default for ModelMetrics {
    fn default() -> Self {
        Self {
            answered: AtomicU64::default(),
            failed: AtomicU64::default(),
            cancelled: AtomicU64::default(),
            errors: Mutex::default(),
            whole: Histogram::new(&SLOW),
            first: Histogram::new(&SLOW),
            spent: Mutex::default(),
        }
    }
}

impl ModelMetrics {
    /// The first piece of a response came.
    pub(crate) fn began(&self, taken: Duration) {
        self.first.note(taken);
    }

    /// A response is whole.
    pub(crate) fn answered(&self, taken: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.whole.note(taken);
    }

    /// A request failed.
    pub(crate) fn failed(&self, error: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        *entry(&mut lock(&self.errors), error) += 1;
    }

    /// A request was given up.
    pub(crate) fn cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }

    /// A round has cost this.
    pub(crate) fn spent(&self, model: &str, more: Spent) {
        let mut all = lock(&self.spent);
        let spent = entry(&mut all, model);
        spent.input += more.input;
        spent.cache_read += more.cache_read;
        spent.cache_creation += more.cache_creation;
        spent.output += more.output;
        spent.usd += more.usd.max(0.0);
    }

    pub(crate) fn write(&self, text: &mut Exposition) {
        let name = "model_requests_total";
        text.family(name, "Requests of conversations to models, by outcome.", "counter");
        let outcomes = [
            ("answered", &self.answered),
            ("failed", &self.failed),
            ("cancelled", &self.cancelled),
        ];
        for (outcome, count) in outcomes {
            text.sample(name, &[("outcome", outcome)], count.load(Ordering::Relaxed));
        }
        let name = "model_errors_total";
        text.family(name, "Requests to models that failed, by kind.", "counter");
        for (error, count) in &*lock(&self.errors) {
            text.sample(name, &[("error", error)], *count);
        }
        text.histogram("model_response_seconds", "Time until a response was whole.", &self.whole);
        text.histogram("model_first_token_seconds", "Time until a response began.", &self.first);
        let spent = lock(&self.spent).clone();
        let name = "model_tokens_total";
        text.family(name, "Tokens of rounds, by model and kind.", "counter");
        for (model, spent) in &spent {
            let kinds = [
                ("input", spent.input),
                ("cache_read", spent.cache_read),
                ("cache_creation", spent.cache_creation),
                ("output", spent.output),
            ];
            for (kind, count) in kinds {
                text.sample(name, &[("model", model), ("kind", kind)], count);
            }
        }
        let name = "cost_usd_total";
        text.family(name, "Dollars spent, agents included, by the dearest model.", "counter");
        for (model, spent) in &spent {
            text.sample(name, &[("model", model)], spent.usd);
        }
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of a name, or of all that came too late to have their own.
fn entry<'a, T: Default>(all: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let is_full = all.len() >= MOST_NAMES && !all.contains_key(name);
    let name = if is_full { OTHER } else { name };
    all.entry(name.to_owned()).or_default()
}
