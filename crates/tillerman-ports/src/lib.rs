//! The small object-safe traits that models, tools, transcripts and clocks implement.

pub mod agent;
pub mod checkpoint;
pub mod clock;
pub mod confine;
pub mod grounds;
pub mod hidden;
pub mod hook;
pub mod keeper;
pub mod library;
pub mod mcp;
pub mod model;
pub mod observer;
pub mod settings;
pub mod task;
pub mod team;
pub mod tool;
pub mod transcript;

pub use agent::{AgentFiles, Reopened, Toolbox};
pub use checkpoint::{CheckpointError, Checkpoints, Extent, Rewound, Taken};
pub use clock::Clock;
pub use confine::{Bounds, Confined, Confiner, Exchange, Hold, PlainCommand};
pub use grounds::{AgentMemory, Grounds, NoGrounds, WorkingCopy};
pub use hidden::Hidden;
pub use hook::{HookBill, HookEnd, HookJob, HookReport, HookRunner, Permits, Redact, Sight};
pub use keeper::PermissionKeeper;
pub use library::{Contents, Invocation, InvocationPart, Library, MemoryNote, Programs, Reading};
pub use mcp::{CallProgress, Deferral, HostFailure, McpHost, McpPrompt, McpRefusal, McpServers};
pub use model::{BoxFuture, EventStream, Model};
pub use observer::{Observed, ObservedAgent, Observer};
pub use settings::{LiveSettings, SettingsChange, SettingsNotice, SettingsRules};
pub use task::{BackgroundTask, TaskDesk, TaskNews, TaskRefused};
pub use team::{Kept, Letter, Member, MemberState, TeamFiles};
pub use tool::{Tool, ToolCall};
pub use transcript::{AppendError, Transcript};
