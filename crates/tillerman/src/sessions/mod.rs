//! Sessions that were kept: list, read, fork, rename, tag, delete.
//!
//! [`Sessions`] works over any [`SessionStore`]: [`FileStore`] is the layout that engines use on
//! disk, [`MemoryStore`] keeps nothing, and `SqliteStore` one database. A store of your own
//! proves itself with [`check_session_store`].

mod key;
mod store;

mod sessions_of;

mod files;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

mod chain;
mod fork;
mod summary;

mod contract;

pub use contract::check_session_store;
pub use files::FileStore;
pub use key::{SessionKey, project_key};
pub use memory::MemoryStore;
pub use sessions_of::{SessionMessage, Sessions, Speaker};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{Ends, SessionStore, StoredSession};
pub use summary::SessionInfo;
