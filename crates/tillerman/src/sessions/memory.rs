//! Sessions in memory, for tests and for hosts that forget.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tillerman_ports::BoxFuture;

use crate::error::Result;
use crate::sessions::key::SessionKey;
use crate::sessions::store::{SessionStore, StoredSession, newest};

/// Sessions in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    transcripts: Arc<Mutex<BTreeMap<SessionKey, Vec<Value>>>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<SessionKey, Vec<Value>>> {
        self.transcripts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<T: Send + 'static>(value: T) -> BoxFuture<Result<T>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl SessionStore for MemoryStore {
    fn append(&self, key: SessionKey, entries: Vec<Value>) -> BoxFuture<Result<()>> {
        if !entries.is_empty() {
            self.locked().entry(key).or_default().extend(entries);
        }
        done(())
    }

    fn load(&self, key: SessionKey) -> BoxFuture<Result<Option<Vec<Value>>>> {
        done(self.locked().get(&key).cloned())
    }

    fn list_sessions(&self, project_key: String) -> BoxFuture<Result<Vec<StoredSession>>> {
        let transcripts = self.locked();
        let own = transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key && key.subpath.is_none());
        let listed = own.map(|(key, entries)| {
            StoredSession::new(key.session_id.clone(), newest(entries).unwrap_or_default())
        });
        done(listed.collect())
    }

    fn list_subkeys(&self, key: SessionKey) -> BoxFuture<Result<Vec<String>>> {
        let transcripts = self.locked();
        let parts = transcripts.keys().filter(|it| is_part(it, &key));
        done(parts.filter_map(|part| part.subpath.clone()).collect())
    }

    fn delete(&self, key: SessionKey) -> BoxFuture<Result<()>> {
        self.locked().retain(|it, _| *it != key && !is_part(it, &key));
        done(())
    }
}

fn is_part(part: &SessionKey, of: &SessionKey) -> bool {
    part.project_key == of.project_key
        && part.session_id == of.session_id
        && part.subpath.is_some()
        && of.subpath.is_none()
}
