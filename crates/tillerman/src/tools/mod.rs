//! Tools of your own, in this process.
//!
//! A [`Tool`] is a function with a name, a description and a schema that is made from its
//! arguments' type. [`create_mcp_server`] puts some of them behind a server, and
//! [`Options::mcp_server`](crate::Options::mcp_server) gives it to an agent, subagents included.
//! The model knows a tool as `mcp__SERVER__TOOL`, and the same rules decide about it as about any
//! other.
//!
//! ```
//! use tillerman::tools::{create_mcp_server, tool};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! async fn add(
//!     /// The first number.
//!     a: f64,
//!     /// The second number.
//!     b: f64,
//! ) -> String {
//!     (a + b).to_string()
//! }
//!
//! # fn main() -> tillerman::Result<()> {
//! let server = create_mcp_server("calculator", "1.0.0", [add_tool()])?;
//! let options = tillerman::Options::new().mcp_server("calculator", server);
//! # drop(options);
//! # Ok(())
//! # }
//! ```

mod definition;
mod outcome;

mod server;

mod schema;
mod wire;

pub use definition::{Tool, ToolContext};
pub use outcome::{IntoToolOutput, Json, Picture, ToolOutput};
pub use schema::schema_of;
pub use server::{McpServer, create_mcp_server};
pub(crate) use wire::{failure_of, subject_of};

#[cfg(feature = "macros")]
pub use tillerman_macros::tool;
