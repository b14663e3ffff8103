//! What the next request may cost, so that it can be set aside before it is made.

use tillerman_protocol::stream::Usage;

use crate::pool::Share;
use crate::session::Session;

const DEFAULT_MAX_TOKENS: u64 = 32_000;

impl Session {
    /// Tokens that a response of this model may generate.
    pub(crate) fn most_output(&self, model: &str) -> u64 {
        let most = self.config.catalog.profile(model).map(|profile| profile.max_output_tokens);
        self.config.limits.max_output_tokens.or(most).unwrap_or(DEFAULT_MAX_TOKENS)
    }

    /// What the next request may take at most: a prompt that is not cached, answered at full
    /// length.
    pub(crate) fn estimate(&self) -> Share {
        let Some(model) = self.round.as_ref().map(|round| round.model.as_str()) else {
            return Share::default();
        };
        let mut dearest: f64 = 0.0;
        let output_tokens = self.most_output(model);
        // A third more than is measured, so that estimates err on the dear side.
        let tokens = self.reading().saturating_mul(4) / 3;
        let uncached = Usage { input_tokens: tokens, output_tokens, ..Usage::default() };
        let cached =
            Usage { cache_creation_input_tokens: tokens, output_tokens, ..Usage::default() };
        for usage in [uncached, cached] {
            dearest = dearest.max(self.config.catalog.cost(model, &usage));
        }
        let tokens = tokens.saturating_add(output_tokens);
        Share { usd: dearest, tokens, turns: 0 }
    }
}
