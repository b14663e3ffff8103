//! Tools for an assistant on somebody's desktop: files below one directory, a few commands, the
//! clipboard, the screen.
//!
//! They are the tools of an in-process MCP server: their names say so, and permission rules,
//! modes and questions treat them like those of any other server. Modules are listed in reading
//! order.

mod config;
mod server;

mod plan;

mod contained;
mod desktop;
mod program;

mod tools;

mod survey;

pub use config::{DesktopConfig, DesktopLimits};
pub use server::{SERVER_NAME, TOOL_NAMES, desktop_tools, full_name, looking_tools};
pub use survey::{Survey, survey};
