//! What a session has used and spent.

use std::collections::BTreeMap;

use tillerman_protocol::SessionId;
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::frame::ModelUsage;
use tillerman_protocol::stream::Usage;
use tillerman_protocol::transcript::CostState;

use crate::calls::ResponseId;
use crate::pool::Share;

/// Tokens and dollars over a whole session, resumes included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    models: BTreeMap<String, ModelUsage>,
    api_ms: u64,
    turns: u64,
}

/// What one response used and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Bill {
    /// The response, inside its own session.
    pub response: ResponseId,
    /// The model that gave it.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// Dollars.
    pub usd: f64,
    /// Milliseconds it was waited for.
    pub api_ms: u64,
    /// Turns it counts as: none for a summary, a repetition or a question beside the conversation.
    pub turns: u64,
}

impl Bill {
    /// Dollars, tokens and turns of the response.
    #[must_use]
    pub const fn share(&self) -> Share {
        let tokens = self.usage.input_total() + self.usage.output_tokens;
        Share { usd: self.usd, tokens, turns: self.turns }
    }
}

impl Ledger {
    /// Goes on from what an earlier run of the session stored.
    #[must_use]
    pub fn from_state(state: &CostState) -> Self {
        Self {
            models: state.model_usage.clone(),
            api_ms: state.total_api_duration_ms,
            turns: state.total_turns,
        }
    }

    /// The ledger as a transcript entry stores it.
    #[must_use]
    pub fn to_state(&self, session_id: SessionId) -> CostState {
        CostState {
            session_id: Some(session_id),
            total_cost_usd: self.total_usd(),
            total_api_duration_ms: self.api_ms,
            total_turns: self.turns,
            model_usage: self.models.clone(),
            extra: serde_json::Map::new(),
        }
    }

    /// Enters a response.
    pub fn enter_bill(&mut self, catalog: &Catalog, bill: &Bill) {
        let (model, usage) = (bill.model.as_str(), &bill.usage);
        self.api_ms += bill.api_ms;
        self.turns += bill.turns;
        let entry = self.models.entry(model.to_owned()).or_default();
        entry.input_tokens += usage.input_tokens;
        entry.output_tokens += usage.output_tokens;
        entry.cache_read_input_tokens += usage.cache_read_input_tokens;
        entry.cache_creation_input_tokens += usage.cache_creation_input_tokens;
        entry.cost_usd += catalog.cost(model, usage);
        if let Some(profile) = catalog.profile(model) {
            entry.context_window = catalog.window(model).unwrap_or_default();
            entry.max_output_tokens = profile.max_output_tokens;
        }
    }

    /// Dollars spent, tokens used and turns made so far.
    #[must_use]
    pub fn total(&self) -> Share {
        let tokens = self.models.values().map(|usage| {
            usage.input_tokens
                + usage.output_tokens
                + usage.cache_read_input_tokens
                + usage.cache_creation_input_tokens
        });
        Share { usd: self.total_usd(), tokens: tokens.sum(), turns: self.turns }
    }

    /// Dollars spent so far.
    #[must_use]
    pub fn total_usd(&self) -> f64 {
        // Not `sum`, which is a negative zero for a session that spent nothing.
        self.models.values().fold(0.0, |total, usage| total + usage.cost_usd)
    }

    /// Milliseconds spent waiting for models so far.
    #[must_use]
    pub const fn api_ms(&self) -> u64 {
        self.api_ms
    }

    /// Tokens and dollars by model.
    #[must_use]
    pub const fn by_model(&self) -> &BTreeMap<String, ModelUsage> {
        &self.models
    }
}
