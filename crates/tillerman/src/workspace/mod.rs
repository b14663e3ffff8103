//! A directory of its own for an agent, with copies of what it may see.
//!
//! ```
//! use tillerman::workspace::{HostMount, Workspace};
//!
//! # fn main() -> tillerman::Result<()> {
//! # let host = tempfile::tempdir().unwrap();
//! # std::fs::write(host.path().join("main.rs"), "fn main() {}").unwrap();
//! let workspace = Workspace::builder()
//!     .allow_root(host.path())
//!     .mount(HostMount::new(host.path()).at("project").exclude("*.bak").max_bytes(1_000_000))
//!     .build()?;
//! let options = tillerman::Options::new().cwd(workspace.path());
//! # assert!(workspace.path().join("project/main.rs").is_file());
//! # drop(options);
//! # Ok(())
//! # }
//! ```
//!
//! What the agent changes stays in the copy, which goes with the [`Workspace`].

mod copy;
mod mount;
mod place;

pub use mount::{HostMount, Links};
pub use place::{Mounted, Workspace, WorkspaceBuilder};
