//! Tools: what the agent can do, and how it learns more.
//!
//! The engine brings tools of its own: files, search, shell, the web, subagents.
//! [`Options::tools`](crate::Options::tools) chooses among them. More come from MCP servers: programs,
//! web addresses, or functions of yours.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use serde_json::json;
//! use tillerman::tools::{ToolOutput, create_mcp_server, tool};
//!
//! /// Converts degrees Celsius to Fahrenheit.
//! #[tool(read_only, idempotent)]
//! async fn fahrenheit(
//!     /// The temperature in degrees Celsius.
//!     celsius: f64,
//! ) -> Result<String, String> {
//!     if celsius < -273.15 {
//!         return Err(format!("{celsius} °C is colder than possible"));
//!     }
//!     Ok(format!("{} °F", celsius * 1.8 + 32.0))
//! }
//!
//! // The function stays a function, and the tool can be called without any agent.
//! assert_eq!(fahrenheit(100.0).await.unwrap(), "212 °F");
//! let answer = fahrenheit_tool().call(json!({"celsius": -300})).await;
//! assert!(answer.is_error());
//!
//! let server = create_mcp_server("weather", "1.0.0", [fahrenheit_tool()])?;
//! let options = tillerman::Options::new()
//!     .mcp_server("weather", server)
//!     .allow_tool("mcp__weather__fahrenheit");
//! # drop((options, ToolOutput::default()));
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
//!
//! - Arguments are parsed strictly: what is missing, of the wrong type or not asked for is refused,
//!   and the model reads why.
//! - An `Err` is an answer too: the model sees it and tries something else. So is a panic.
//! - Return text, a [`Picture`](crate::tools::Picture), any value as [`Json`](crate::tools::Json), or
//!   a [`ToolOutput`](crate::tools::ToolOutput) of several of them.
//! - Subagents have the same tools. The permission rules hold for them as for any other.
