//! Settings in layers: where each value comes from, which one holds, and what a repository may do.

mod source;

mod keys;
mod read;
mod spots;

mod hooks;
mod host_policy;
mod layers;
mod merge;
mod standing;
mod trust;
mod variables;
mod watch;

mod describe;
mod expand;
mod mcp_files;
mod persist;

pub mod extensions;

pub use expand::expand;
pub use hooks::HookLayers;
pub use layers::{Layer, Layers};
pub use mcp_files::{
    FoundServer, FoundServers, McpPlaces, McpScope, add_server, find_servers, remove_server,
};
pub use merge::{Merged, Origin};
pub use persist::{PersistError, change_key, persist};
pub use read::{SettingsError, read_argument};
pub use source::{Places, Source};
pub use spots::Spot;
pub use standing::{LeftOut, Standing, Wants};
pub use trust::{FingerprintError, LedgerError, Trust, TrustError, TrustState, TrustedDirectory};
