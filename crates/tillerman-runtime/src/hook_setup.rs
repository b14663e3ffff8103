//! What a session knows about hooks that are written down.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_engine::Beginning;
use tillerman_ports::HookRunner;
use tillerman_protocol::hook::HookSource;

/// Everything a session knows about hooks that are written down.
#[derive(Debug, Default)]
pub struct HookSetup {
    /// Runs them; without it none runs.
    pub runner: Option<Arc<dyn HookRunner>>,
    /// Where they come from.
    pub sources: Vec<HookSource>,
    /// How the session begins.
    pub beginning: Beginning,
    /// Whether the host wants to see every run; those of the beginning are always shown.
    pub show_events: bool,
    /// How long hooks of the end may take when they do not say so themselves.
    pub end_budget: Option<Duration>,
    /// Where hooks may leave variables for later commands.
    pub env_file: Option<PathBuf>,
    /// What people should know about hooks that were left out.
    pub remarks: Vec<String>,
}
