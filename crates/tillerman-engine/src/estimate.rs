//! What the next request may cost, so that it can be set aside before it is made.

use tillerman_protocol::stream::Usage;

use crate::session::Session;

const DEFAULT_MAX_TOKENS: u64 = 32_000;
/// Fewer bytes than a token usually takes, so that estimates err on the dear side.
const BYTES_PER_TOKEN: usize = 3;

impl Session {
    /// Tokens that a response of this model may generate.
    pub(crate) fn most_output(&self, model: &str) -> u64 {
        let most = self.config.catalog.profile(model).map(|profile| profile.max_output_tokens);
        self.config.limits.max_output_tokens.or(most).unwrap_or(DEFAULT_MAX_TOKENS)
    }

    /// Dollars that the next request may cost at most: a prompt that is not cached, answered at
    /// full length.
    pub(crate) fn estimate(&self) -> f64 {
        let Some(model) = self.round.as_ref().map(|round| round.model.as_str()) else { return 0.0 };
        let mut dearest: f64 = 0.0;
        let output_tokens = self.most_output(model);
        let tokens = self.prompt_tokens();
        let uncached = Usage { input_tokens: tokens, output_tokens, ..Usage::default() };
        let cached =
            Usage { cache_creation_input_tokens: tokens, output_tokens, ..Usage::default() };
        for usage in [uncached, cached] {
            dearest = dearest.max(self.config.catalog.cost(model, &usage));
        }
        dearest
    }

    /// After a response the provider's own count is known and only the newest message is guessed.
    fn prompt_tokens(&self) -> u64 {
        let messages = self.conversation.messages();
        let new = if self.context_tokens > 0 { messages.len().saturating_sub(1) } else { 0 };
        let said: usize = messages
            .iter()
            .skip(new)
            .map(|message| text_size(serde_json::to_vec(&**message)))
            .sum();
        let fixed: usize = if self.context_tokens > 0 {
            0
        } else {
            let system = self.config.system.iter().map(|block| block.text.len()).sum::<usize>();
            let tools = self.config.tools.iter().map(|tool| {
                tool.name.len()
                    + tool.description.len()
                    + text_size(serde_json::to_vec(&tool.input_schema))
            });
            system + tools.sum::<usize>()
        };
        let guessed = u64::try_from((said + fixed) / BYTES_PER_TOKEN).unwrap_or(u64::MAX);
        self.context_tokens.saturating_add(guessed)
    }
}

fn text_size(written: serde_json::Result<Vec<u8>>) -> usize {
    written.map_or(0, |bytes| bytes.len())
}
