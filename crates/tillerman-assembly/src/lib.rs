//! From an order to a session that can run.
//!
//! [`SessionOrder`] says what is wanted, [`assemble`] finds settings, credentials, tools and the
//! conversation for it, and [`run`] makes a [`Session`] that speaks in frames. Nothing here looks
//! at the process's environment, arguments or working directory, so that many sessions can live
//! in one process. Modules are listed in reading order.

mod order;

mod assemble;
mod running;

mod agents;
mod bare_tools;
mod checkpoints;
mod compaction_setup;
pub mod confine;
mod engine_setup;
mod extensions;
mod greeting;
mod grounds;
mod hooks;
mod leftover_trees;
pub mod lending;
mod lent_secret;
mod library;
mod main_agent;
mod model_choice;
mod opening;
mod owners;
mod permission;
mod provider;
pub mod servers;
pub mod settings;
mod team;
mod toolbox;
mod web_access;
mod worktree;

mod cleanup;
mod clock;
mod credentials;
mod environment;
mod failure;
mod git;
mod instructions;
mod keeper;
mod rules;
mod secret_sources;
mod seed;
mod suggestion;

pub use assemble::assemble;
pub use bare_tools::{BareTools, bare_tools};
pub use checkpoints::{file_checkpoints, session_to_resume};
pub use clock::SystemClock;
pub use engine_setup::PROTOCOL_LEVEL;
pub use environment::Environment;
pub use failure::StartFailure;
pub use leftover_trees::agent_trees;
pub use opening::{Opened, SessionOpener};
pub use order::{
    Approver, ConversationOrder, ExtensionOrder, FrameOrder, JsonSource, LimitOrder, ModelOrder,
    Parts, PermissionOrder, Preparation, Resume, SessionOrder, TextSource, ThinkingMode,
};
pub use provider::WithoutCredentials;
pub use running::{SendError, Session, SessionHandle, read_frame, run};
pub use tillerman_config::Source as SettingSource;
pub use tillerman_models::connections::Connections;
pub use tillerman_policy::ALLOWED_VARIABLES as AGENT_VARIABLES;
pub use tillerman_runtime::{SessionEnd, SessionSetup};
