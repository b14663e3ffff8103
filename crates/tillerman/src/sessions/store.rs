//! What a session store can do.

use std::fmt;

use serde_json::Value;
use tillerman_ports::BoxFuture;
use tillerman_protocol::{Moment, SessionId};

use crate::error::Result;
use crate::sessions::key::SessionKey;

/// Keeps transcripts: lists of entries that only grow.
///
/// Implementations are shared between sessions and called from several tasks. They fail with
/// [`ErrorKind::Store`](crate::ErrorKind::Store).
pub trait SessionStore: fmt::Debug + Send + Sync {
    /// Adds entries at the end of a transcript, all of them or none.
    fn append(&self, key: SessionKey, entries: Vec<Value>) -> BoxFuture<Result<()>>;

    /// All entries of a transcript in order; nothing when there is none.
    fn load(&self, key: SessionKey) -> BoxFuture<Result<Option<Vec<Value>>>>;

    /// The sessions of a project, in any order.
    fn list_sessions(&self, project_key: String) -> BoxFuture<Result<Vec<StoredSession>>>;

    /// The parts of a session, in any order.
    fn list_subkeys(&self, key: SessionKey) -> BoxFuture<Result<Vec<String>>>;

    /// Removes a session with all its parts. What is not there is as good as removed.
    fn delete(&self, key: SessionKey) -> BoxFuture<Result<()>>;

    /// The first and the last entries of a transcript, which is enough to list it; a store that
    /// need not read all of it for that should not.
    fn ends(&self, key: SessionKey) -> BoxFuture<Result<Option<Ends>>> {
        let loading = self.load(key);
        Box::pin(async move {
            let entries = loading.await?;
            Ok(entries.map(|entries| Ends { first: entries, last: Vec::new() }))
        })
    }
}

/// A session that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The session.
    pub session_id: SessionId,
    /// When it was added to last.
    pub modified: Moment,
}

impl StoredSession {
    /// A session that was added to at this moment.
    #[must_use]
    pub const fn new(session_id: SessionId, modified: Moment) -> Self {
        Self { session_id, modified }
    }
}

/// The two ends of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// The first entries.
    pub first: Vec<Value>,
    /// The last entries, without those that are among the first.
    pub last: Vec<Value>,
}

/// When the newest of some entries was written, as far as they say.
pub(crate) fn newest(entries: &[Value]) -> Option<Moment> {
    use serde::Deserialize as _;
    let times = entries.iter().filter_map(|entry| entry.get("timestamp"));
    times.filter_map(|time| Moment::deserialize(time).ok()).max()
}
