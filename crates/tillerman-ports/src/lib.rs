//! The small object-safe traits that models, tools, transcripts and clocks implement.

pub mod clock;
pub mod model;
pub mod tool;
pub mod transcript;

pub use clock::Clock;
pub use model::{BoxFuture, EventStream, Model};
pub use tool::{Tool, ToolCall};
pub use transcript::{AppendError, Transcript};
