//! Old sessions are removed in the background, once a day.

use std::path::Path;

use tillerman_config::Layers;
use tillerman_ports::Clock as _;
use tillerman_protocol::SessionId;
use tillerman_store::{sweep, sweep_is_due};

use crate::clock::SystemClock;

/// Begins to remove sessions that are older than the settings say, if it is time. Nothing waits
/// for it; what is left when the process ends is removed another day.
pub(crate) fn sweep_in_background(layers: &Layers, config_dir: &Path, running: &SessionId) {
    let now = SystemClock.now();
    let Some(days) = layers.cleanup_days().filter(|_| sweep_is_due(config_dir, now)) else {
        return;
    };
    let (config_dir, running) = (config_dir.to_path_buf(), running.clone());
    drop(tokio::task::spawn_blocking(move || {
        let swept = sweep(&config_dir, days, now, &running);
        tracing::debug!(
            "{} old transcripts and {} file histories were removed (cleanupPeriodDays {days})",
            swept.transcripts,
            swept.histories
        );
    }));
}
