//! The small object-safe traits that models, tools, transcripts and clocks implement.

pub mod checkpoint;
pub mod clock;
pub mod keeper;
pub mod library;
pub mod model;
pub mod task;
pub mod tool;
pub mod transcript;

pub use checkpoint::{CheckpointError, Checkpoints, Extent, Rewound, Taken};
pub use clock::Clock;
pub use keeper::PermissionKeeper;
pub use library::{Contents, Invocation, InvocationPart, Library, Programs, Reading};
pub use model::{BoxFuture, EventStream, Model};
pub use task::{BackgroundTask, TaskDesk, TaskRefused};
pub use tool::{Tool, ToolCall};
pub use transcript::{AppendError, Transcript};
