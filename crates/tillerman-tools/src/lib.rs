//! The built-in tools.
//!
//! Modules are listed in reading order. Tools do what they are told: whether they may is decided
//! before they are called.

mod config;
mod session;

mod blocking;
mod input;

mod files;

mod edit;
mod notebook;
mod read;
mod write;

mod search;

mod bash;
mod tasks;

mod board;

mod ask;
mod plan;
mod skill;
mod todo;

mod web;

pub use board::board_tools;
pub use config::{
    Audience, MonitorLimits, Reach, SearchSource, SideModel, ToolConfig, ToolLimits, WebConfig,
};
pub use read::picture::{Picture, ShowPictureError, show_picture};
pub use session::session_tools;
pub use skill::{skill_spec, skill_tool};
