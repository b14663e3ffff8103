//! Settings in layers: where each value comes from and which one holds.

mod layers;
mod persist;

mod expand;
mod mcp_files;

pub use expand::expand;
pub use layers::{Layer, Layers, Places, SettingsError, Source, read_argument};
pub use mcp_files::{
    FoundServer, FoundServers, McpPlaces, McpScope, add_server, find_servers, remove_server,
};
pub use persist::{PersistError, persist};
