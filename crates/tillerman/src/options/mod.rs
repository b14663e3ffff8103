//! How a session is to run.
//!
//! Every option can be combined with every other unless its description says otherwise. What a
//! transport cannot honour is an error when the session is opened, never silence.

mod builder;

mod model;
mod permission;
mod session;

mod extension;
mod surroundings;

mod arguments;
mod check;
mod handshake;
mod settings;

pub(crate) use builder::Callbacks;
pub use builder::Options;
pub use extension::{AgentDefinition, ServerConfig, SettingSource, Settings};
pub use model::{Effort, SystemPrompt, Thinking};
pub use permission::ToolSet;
pub(crate) use session::Origin;

pub use tillerman_protocol::sandbox::{SandboxFilesystem, SandboxNetwork, SandboxSettings};
