//! Transcripts on disk: append-only JSONL that survives crashes.
//!
//! Modules are listed in reading order.

mod sessions;
mod transcript;

mod load;

mod chain;
mod index;
mod probe;

mod disk;
mod line;
mod names;

mod fork;

pub use fork::fork;
pub use load::{Loaded, Repairs, ResumeAt, SkipReason, SkippedLine};
pub use names::{project_name, subagents_dir, tool_results_dir};
pub use sessions::{OpenError, SessionFile, SessionFiles};
pub use transcript::{FileTranscript, NoTranscript};
