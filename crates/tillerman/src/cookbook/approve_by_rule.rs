//! Decides about calls by a rule of the house.
//!
//! What no rule and no mode decides arrives at `can_use_tool`. What is changed here is what runs.
//!
//! ```
//! use serde_json::json;
//! use tillerman::{Options, Permission, prompt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let options = Options::new().model("rehearsal").no_session_persistence().can_use_tool(
//!         |call| async move {
//!             match (call.tool_name.as_str(), call.input["command"].as_str()) {
//!                 ("Bash", Some(command)) if command.starts_with("touch ") => {
//!                     Permission::allow_with(json!({"command": format!("echo would {command}")}))
//!                 }
//!                 _ => Permission::deny("only touching is allowed, and only for show"),
//!             }
//!         },
//!     );
//!     let answer = prompt("run `touch somewhere`", options).await?;
//!     assert!(!std::path::Path::new("somewhere").exists());
//!     println!("{}", answer.text);
//!     Ok(())
//! }
//! ```
