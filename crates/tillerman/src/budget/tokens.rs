//! A budget of tokens and dollars that sessions may share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_protocol::frame::{AssistantFrame, ResultFrame};

use crate::error::{Error, ErrorKind, Result};

/// Responses whose tokens are counted one by one until their round's result has the total.
const MOST_RESPONSES: usize = 4096;

/// A budget of tokens and dollars. Clones share it, so that many sessions can.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Limits,
    spent: Arc<Mutex<Spent>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    tokens: Option<u64>,
    dollars: Option<f64>,
}

/// What was spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// Tokens, read and written, cached or not.
    pub tokens: u64,
    /// Dollars.
    pub dollars: f64,
}

impl Budget {
    /// This many tokens.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] for zero.
    pub fn tokens(tokens: u64) -> Result<Self> {
        Self::new(Limits { tokens: Some(tokens), dollars: None })
    }

    /// This many dollars.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] for what is not above zero.
    pub fn dollars(dollars: f64) -> Result<Self> {
        Self::new(Limits { tokens: None, dollars: Some(dollars) })
    }

    /// Whichever of the two is used up first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] for what is not above zero.
    pub fn tokens_and_dollars(tokens: u64, dollars: f64) -> Result<Self> {
        Self::new(Limits { tokens: Some(tokens), dollars: Some(dollars) })
    }

    fn new(limits: Limits) -> Result<Self> {
        let has_tokens = limits.tokens != Some(0);
        let has_dollars = limits.dollars.is_none_or(|it| it.is_finite() && it > 0.0);
        if has_tokens && has_dollars {
            return Ok(Self { limits, spent: Arc::default() });
        }
        let text = "a budget of nothing allows nothing; give more than zero, or no budget at all";
        Err(Error::new(ErrorKind::InvalidOptions, text))
    }

    /// What was spent so far, by all who share it.
    #[must_use]
    pub fn spent(&self) -> Spent {
        *self.locked()
    }

    /// Why nothing more may be spent, if so; also the reason for which tools are denied.
    #[must_use]
    pub fn exhausted(&self) -> Option<&'static str> {
        let spent = self.spent();
        if self.limits.tokens.is_some_and(|limit| spent.tokens >= limit) {
            return Some("Token budget exhausted");
        }
        if self.limits.dollars.is_some_and(|limit| spent.dollars >= limit) {
            return Some("Dollar budget exhausted");
        }
        None
    }

    fn spend(&self, tokens: u64, dollars: f64) {
        let mut spent = self.locked();
        spent.tokens += tokens;
        spent.dollars += dollars;
    }

    fn locked(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what one session spends of a budget.
///
/// Frames tell a response's tokens while a round goes on, and the round's result tells their
/// total; what was counted before is then taken off it.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Budget,
    responses: HashMap<String, u64>,
    counted: u64,
    dollars: Option<f64>,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, responses: HashMap::new(), counted: 0, dollars: None }
    }

    pub(crate) fn heard(&mut self, frame: &AssistantFrame) {
        let message = &frame.message;
        let tokens = message.usage.input_total() + message.usage.output_tokens;
        if message.id.is_empty() || self.responses.len() >= MOST_RESPONSES {
            return;
        }
        let before = self.responses.entry(message.id.clone()).or_default();
        let more = tokens.saturating_sub(*before);
        *before += more;
        self.counted += more;
        self.budget.spend(more, 0.0);
    }

    pub(crate) fn ended(&mut self, result: &ResultFrame) {
        let total = result.usage.input_total() + result.usage.output_tokens;
        let more = total.saturating_sub(self.counted);
        // The session's total comes with every result; a resumed one begins above zero, and
        // what was spent before it is not this budget's.
        let before = self.dollars.unwrap_or_else(|| result.total_cost_usd - round_cost(result));
        self.budget.spend(more, (result.total_cost_usd - before).max(0.0));
        self.dollars = Some(result.total_cost_usd);
        self.responses.clear();
        self.counted = 0;
    }
}

/// What a session's first round cost. Without a past it is the total.
fn round_cost(result: &ResultFrame) -> f64 {
    let since = result.extra.get("model_usage_since_last_result");
    let parts = since.and_then(serde_json::Value::as_object);
    parts.map_or(result.total_cost_usd, |models| {
        models.values().filter_map(|usage| usage.get("costUSD")?.as_f64()).sum()
    })
}
