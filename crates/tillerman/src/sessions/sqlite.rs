//! Sessions in one SQLite database.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use tillerman_ports::BoxFuture;
use tillerman_protocol::{Moment, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::sessions::key::SessionKey;
use crate::sessions::store::{SessionStore, StoredSession, newest};

/// How long a process waits for another one that writes.
const BUSY: Duration = Duration::from_secs(10);
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS transcript (
        id INTEGER PRIMARY KEY,
        project TEXT NOT NULL,
        session TEXT NOT NULL,
        subpath TEXT NOT NULL,
        modified INTEGER NOT NULL,
        UNIQUE (project, session, subpath)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS entry (
        transcript INTEGER NOT NULL REFERENCES transcript (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (transcript, position)
    ) STRICT, WITHOUT ROWID;
    PRAGMA foreign_keys = ON;
";

/// Sessions in one SQLite database. Clones share it.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteStore {
    /// The database in this file, which is made when there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] when it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = Connection::open(path).and_then(prepare).map_err(|error| {
            let text = format!("{} cannot be used as a session store", path.display());
            Error::new(ErrorKind::Store, text).because(error)
        })?;
        Ok(Self { connection: Arc::new(Mutex::new(opened)) })
    }

    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<Result<T>> {
        let connection = Arc::clone(&self.connection);
        Box::pin(async move {
            let working = tokio::task::spawn_blocking(move || {
                work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
            });
            match working.await {
                Ok(worked) => worked.map_err(failure),
                Err(error) => {
                    Err(Error::new(ErrorKind::Store, "the database work ended early")
                        .because(error))
                }
            }
        })
    }
}

fn prepare(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY)?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn failure(error: rusqlite::Error) -> Error {
    Error::new(ErrorKind::Store, "the session database refused").because(error)
}

/// The number of a transcript, if it is there.
fn find(connection: &Connection, key: &SessionKey) -> rusqlite::Result<Option<i64>> {
    let text = "SELECT id FROM transcript WHERE project = ?1 AND session = ?2 AND subpath = ?3";
    let mut statement = connection.prepare(text)?;
    statement.query_row(names(key), |row| row.get(0)).optional()
}

fn names(key: &SessionKey) -> (&str, &str, &str) {
    (&key.project_key, key.session_id.as_str(), key.subpath.as_deref().unwrap_or_default())
}

impl SessionStore for SqliteStore {
    fn append(&self, key: SessionKey, entries: Vec<Value>) -> BoxFuture<Result<()>> {
        self.work(move |connection| {
            if entries.is_empty() {
                return Ok(());
            }
            let transaction = connection.transaction()?;
            let modified = newest(&entries).map_or(0, Moment::as_millis);
            let (project, session, subpath) = names(&key);
            transaction.execute(
                "INSERT INTO transcript (project, session, subpath, modified)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET modified = max(modified, excluded.modified)",
                params![project, session, subpath, modified],
            )?;
            let id = find(&transaction, &key)?;
            let mut position: i64 = transaction.query_row(
                "SELECT coalesce(max(position), 0) FROM entry WHERE transcript = ?1",
                params![id],
                |row| row.get(0),
            )?;
            for entry in &entries {
                position += 1;
                transaction.prepare("INSERT INTO entry VALUES (?1, ?2, ?3)")?.execute(params![
                    id,
                    position,
                    entry.to_string()
                ])?;
            }
            transaction.commit()
        })
    }

    fn load(&self, key: SessionKey) -> BoxFuture<Result<Option<Vec<Value>>>> {
        self.work(move |connection| {
            let Some(id) = find(connection, &key)? else { return Ok(None) };
            let text = "SELECT content FROM entry WHERE transcript = ?1 ORDER BY position";
            let mut statement = connection.prepare(text)?;
            let rows = statement.query_map(params![id], |row| row.get::<_, String>(0))?;
            let texts: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
            Ok(Some(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()))
        })
    }

    fn list_sessions(&self, project_key: String) -> BoxFuture<Result<Vec<StoredSession>>> {
        self.work(move |connection| {
            let text =
                "SELECT session, modified FROM transcript WHERE project = ?1 AND subpath = ''";
            let mut statement = connection.prepare(text)?;
            let rows = statement.query_map(params![project_key], |row| {
                let session = SessionId::new(row.get::<_, String>(0)?);
                Ok(StoredSession::new(session, Moment::from_millis(row.get(1)?)))
            })?;
            rows.collect()
        })
    }

    fn list_subkeys(&self, key: SessionKey) -> BoxFuture<Result<Vec<String>>> {
        self.work(move |connection| {
            let text = "SELECT subpath FROM transcript
                        WHERE project = ?1 AND session = ?2 AND subpath <> ''";
            let mut statement = connection.prepare(text)?;
            let (project, session, _) = names(&key);
            let rows = statement.query_map(params![project, session], |row| row.get(0))?;
            rows.collect()
        })
    }

    fn delete(&self, key: SessionKey) -> BoxFuture<Result<()>> {
        self.work(move |connection| {
            let (project, session, subpath) = names(&key);
            let text = "DELETE FROM transcript
                        WHERE project = ?1 AND session = ?2 AND (subpath = ?3 OR ?3 = '')";
            connection.execute(text, params![project, session, subpath]).map(drop)
        })
    }
}
