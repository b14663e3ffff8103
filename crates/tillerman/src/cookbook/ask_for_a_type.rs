//! Gets an answer as a Rust value.
//!
//! The schema is made from the type, the engine holds the model to it, and `parse` reads the value.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use tillerman::{Options, query};
//!
//! #[derive(Debug, Deserialize, JsonSchema)]
//! struct Summary {
//!     /// One sentence.
//!     headline: String,
//!     /// The files that matter.
//!     files: Vec<String>,
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let options = Options::new().model("rehearsal").no_session_persistence().tools(["Glob"]);
//!     let summary: Summary = query("list files", options).parse().await?;
//!     println!("{} ({} files)", summary.headline, summary.files.len());
//!     Ok(())
//! }
//! ```
