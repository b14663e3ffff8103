//! What a session needs in order to lead a team.

use std::sync::Arc;
use std::time::Duration;

use tillerman_ports::TeamFiles;

/// What a session needs in order to lead a team.
#[derive(Clone, Debug)]
pub struct TeamSetup {
    /// The team's name.
    pub name: String,
    /// Keeps its members and their mail.
    pub files: Arc<dyn TeamFiles>,
    /// How long teammates may go on once the input is closed.
    pub ceiling: Duration,
}
