//! Settings in layers: where each value comes from and which one holds.

mod layers;
mod persist;

pub mod extensions;

pub use layers::{Layer, Layers, Places, SettingsError, Source, read_argument};
pub use persist::{PersistError, persist};
