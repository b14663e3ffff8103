//! What is known about models: windows, limits and prices.

use serde::{Deserialize, Serialize};

use crate::stream::Usage;

/// What a model's name ends with when its large window is wanted, as in `sonnet[1m]`.
pub const LARGE_WINDOW_ENDING: &str = "[1m]";
/// Tokens in a large window.
const LARGE_WINDOW: u64 = 1_000_000;

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Uncached input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache.
    pub cache_write: f64,
}

impl Price {
    /// What a response cost, in dollars.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        part(usage.input_tokens, self.input)
            + part(usage.output_tokens, self.output)
            + part(usage.cache_read_input_tokens, self.cache_read)
            + part(usage.cache_creation_input_tokens, self.cache_write)
    }
}

/// What is known about one model or family of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelProfile {
    /// The model id, or the prefix shared by the family.
    pub id: String,
    /// The name people read.
    pub display_name: String,
    /// One line about it.
    pub description: String,
    /// Tokens that fit into a request.
    pub context_window: u64,
    /// Tokens it may generate at most.
    pub max_output_tokens: u64,
    /// Its price.
    pub price: Price,
}

/// Models by id prefix, and the aliases people use for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The models, in the order in which they are offered.
    pub models: Vec<ModelProfile>,
    /// Alias and what it stands for.
    pub aliases: Vec<(String, String)>,
}

impl Catalog {
    /// The model id an alias stands for; anything else stands for itself.
    #[must_use]
    pub fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.iter().find(|(alias, _)| alias == name).map_or(name, |(_, id)| id)
    }

    /// Whether a list of models includes one. Entries are ids, beginnings of ids up to a dash, and
    /// aliases.
    #[must_use]
    pub fn includes(&self, list: &[String], model: &str) -> bool {
        let model = self.resolve(model);
        list.iter().map(|entry| self.resolve(entry)).any(|entry| {
            let rest = model.strip_prefix(entry);
            rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('-') && !entry.is_empty()))
        })
    }

    /// What is known about a model: the longest matching prefix wins.
    #[must_use]
    pub fn profile(&self, model: &str) -> Option<&ModelProfile> {
        self.models
            .iter()
            .filter(|profile| model.starts_with(&profile.id))
            .max_by_key(|profile| profile.id.len())
    }

    /// Tokens that fit into a request to a model, if it is known.
    #[must_use]
    pub fn window(&self, model: &str) -> Option<u64> {
        let profile = self.profile(model)?;
        let is_large = model.ends_with(LARGE_WINDOW_ENDING);
        Some(if is_large { LARGE_WINDOW } else { profile.context_window })
    }

    /// What a response of a model cost; zero for models without a price.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> f64 {
        self.profile(model).map_or(0.0, |profile| profile.price.cost(usage))
    }
}
