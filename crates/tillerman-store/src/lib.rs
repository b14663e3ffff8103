//! Sessions on disk: append-only transcripts that survive crashes, and file checkpoints.
//!
//! Modules are listed in reading order.

mod agents;
mod sessions;
mod team;
mod titles;
mod transcript;

mod load;

mod chain;
mod index;
mod probe;

mod disk;
mod growing;
mod line;
mod names;

mod fork;
mod sweep;

mod checkpoint;

pub use agents::{AgentDirectory, NoAgentFiles};
pub use checkpoint::{CheckpointLimits, FileCheckpoints, file_history_dir};
pub use fork::fork;
pub use load::{Loaded, Repairs, ResumeAt, SkipReason, SkippedLine};
pub use names::{project_name, subagents_dir, tool_results_dir};
pub use sessions::{OpenError, SessionFile, SessionFiles};
pub use sweep::{Swept, sweep, sweep_is_due};
pub use team::{NoTeamFiles, TeamDirectory};
pub use transcript::{FileTranscript, NoTranscript};
