//! Confinement of commands: what they may do is described once, enforced by the operating system,
//! and checked from inside before anything runs.
//!
//! Modules are listed in reading order.

mod capabilities;
mod confinement;

#[cfg(target_os = "linux")]
mod command;
#[cfg(target_os = "linux")]
mod sandbox;

#[cfg(target_os = "linux")]
mod allowlist;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod groups;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod placeholder;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod private;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod walls;

#[cfg(not(target_os = "linux"))]
mod elsewhere;

mod links;

mod session;

#[cfg(target_os = "linux")]
mod code_pages;

pub mod egress;
pub mod files;
pub mod seatbelt;

pub use capabilities::{Backend, Capabilities, GroupLimits, report};
pub use confinement::{
    Confinement, Guard, GuardKind, Limits, LocalBinding, NetworkPolicy, PrivateAddresses,
    ProxyRules, SandboxUser, SessionPlaces, UnixSockets, Upstream,
};
pub use egress::{LentCredential, LentSecret, SecretSource, Violation, ViolationKind};
pub use links::SearchLinksError;
pub use session::SessionSandbox;

#[cfg(target_os = "linux")]
pub use code_pages::give_back_code;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    CommandError, ConfinedCommand, Prepared, REFUSED, STAGE, Sandbox, SandboxError, run_stage,
};

#[cfg(target_os = "linux")]
pub use command::{CommandError, ConfinedCommand};
#[cfg(target_os = "linux")]
pub use layout::LayoutError;
#[cfg(target_os = "linux")]
pub use placeholder::PlaceholderError;
#[cfg(target_os = "linux")]
pub use private::MakePrivateError;
#[cfg(target_os = "linux")]
pub use sandbox::{Prepared, REFUSED, STAGE, Sandbox, SandboxError};
#[cfg(target_os = "linux")]
pub use stage::run_stage;
