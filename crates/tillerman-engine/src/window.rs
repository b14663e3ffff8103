//! When a context counts as full.

use tillerman_protocol::catalog::Catalog;

/// The window of a model that nobody described.
const USUAL_WINDOW: u64 = 200_000;
/// The share of a window that is kept free for an answer and for what tools bring in.
const FREE_PERCENT: u64 = 15;
/// How many outputs are left alone unless somebody says otherwise.
const NEWEST_OUTPUTS: usize = 6;
/// In a large window that share would be more than anybody needs.
const MOST_FREE: u64 = 32_000;

/// When the conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionMode {
    /// As soon as the window is nearly full, and on request.
    Automatic,
    /// On request only.
    OnRequest,
    /// Never.
    Off,
}

/// When the conversation is compacted, and what counts as full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionConfig {
    /// When it is compacted at all.
    pub mode: CompactionMode,
    /// Tokens that count as the whole window; never more than the model has.
    pub window: Option<u64>,
    /// The percentage of the window at which it is compacted; it lowers the threshold only.
    pub percent: Option<u64>,
    /// The window of models that the catalog does not know.
    pub unknown_window: Option<u64>,
    /// So many of the newest outputs of tools are never cleared.
    pub newest_outputs: usize,
}

impl CompactionConfig {
    /// Compaction as an unconfigured session has it.
    #[must_use]
    pub const fn automatic() -> Self {
        let (window, percent, unknown_window) = (None, None, None);
        let (mode, newest_outputs) = (CompactionMode::Automatic, NEWEST_OUTPUTS);
        Self { mode, window, percent, unknown_window, newest_outputs }
    }

    /// Tokens that fit into a request to this model.
    #[must_use]
    pub fn window_of(&self, catalog: &Catalog, model: &str) -> u64 {
        catalog.window(model).or(self.unknown_window).unwrap_or(USUAL_WINDOW).max(1)
    }

    /// Tokens from which on the conversation is compacted before the next request.
    #[must_use]
    pub fn threshold(&self, catalog: &Catalog, model: &str) -> u64 {
        let whole = self.window_of(catalog, model);
        let window = self.window.map_or(whole, |chosen| chosen.clamp(1, whole));
        let usual = window - (window * FREE_PERCENT / 100).min(MOST_FREE);
        let chosen = self.percent.map(|percent| window * percent.min(100) / 100);
        chosen.map_or(usual, |chosen| chosen.min(usual)).max(1)
    }
}
