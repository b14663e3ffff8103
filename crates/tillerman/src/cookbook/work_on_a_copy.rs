//! Lets an agent change a copy of a directory.
//!
//! A workspace holds copies of what may be seen, up to a size, without links, and is gone in the
//! end.
//!
//! ```
//! use tillerman::workspace::{HostMount, Workspace};
//! use tillerman::{Options, PermissionMode, prompt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let project = tempfile::tempdir()?;
//!     std::fs::write(project.path().join("notes.txt"), "buy milk")?;
//!
//!     let workspace = Workspace::builder()
//!         .allow_root(project.path())
//!         .mount(HostMount::new(project.path()).at("project").max_bytes(10_000_000))
//!         .build()?;
//!     let options = Options::new()
//!         .model("rehearsal")
//!         .no_session_persistence()
//!         .cwd(workspace.path().join("project"))
//!         .permission_mode(PermissionMode::AcceptEdits);
//!     prompt("write \"buy tea\" to other.txt", options).await?;
//!
//!     assert!(!project.path().join("other.txt").exists());
//!     Ok(())
//! }
//! ```
