//! How the rest of the host reaches the database: one writer, several readers.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::open::{self, OpenStoreError};
use crate::store::writer::{self, Finish, Job};

/// How long a change or a question may take; a disk that hangs must not hang a request.
const PATIENCE: Duration = Duration::from_secs(20);
/// Reading connections that are kept for the next question.
const KEPT_READERS: usize = 4;

/// Why the database did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room.
    #[error("the disk is full")]
    Full,
    /// It did not answer in time, or its thread is gone.
    #[error("the database does not answer")]
    Silent,
    /// It refused.
    #[error("the database refused: {0}")]
    Refused(String),
}

impl StoreError {
    fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// The database. Clones share it.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    jobs: mpsc::Sender<Job>,
    readers: Mutex<Vec<Connection>>,
    directory: PathBuf,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the directory for a host, and keeps every other host out of it.
    ///
    /// # Errors
    ///
    /// When the directory cannot be used, another host uses it, or a later program wrote it.
    pub fn open(directory: &Path) -> Result<Self, OpenStoreError> {
        open::prepare(directory)?;
        let lock = open::lock(directory)?;
        Self::with_lock(directory, Some(lock))
    }

    /// Opens the directory beside a host that may be running, for commands that change little.
    ///
    /// # Errors
    ///
    /// When the directory cannot be used or a later program wrote it.
    pub fn open_beside(directory: &Path) -> Result<Self, OpenStoreError> {
        open::prepare(directory)?;
        Self::with_lock(directory, None)
    }

    /// The lock keeps other hosts out of the directory; tools beside a host have none.
    fn with_lock(directory: &Path, lock: Option<File>) -> Result<Self, OpenStoreError> {
        let jobs = writer::start(open::writer(directory)?, lock).map_err(OpenStoreError::Thread)?;
        let readers = Mutex::new(Vec::new());
        let inner = Inner { jobs, readers, directory: directory.to_owned() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Where the database lies.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.inner.directory
    }

    /// Changes something, all of it or nothing, and returns once that is on the disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |transaction| {
            let outcome = transaction.savepoint().and_then(|savepoint| {
                let value = change(&savepoint)?;
                savepoint.commit()?;
                Ok(value)
            });
            let finish: Finish = Box::new(move |committed| {
                let answer = match (outcome, committed) {
                    (Ok(value), Ok(())) => Ok(value),
                    (Err(error), _) => Err(StoreError::of(&error)),
                    (_, Err(error)) => Err(StoreError::of(error)),
                };
                // Whoever asked may have gone; the change stands all the same.
                drop(tell.send(answer));
            });
            finish
        });
        self.inner.jobs.send(job).await.map_err(|_| StoreError::Silent)?;
        match tokio::time::timeout(PATIENCE, told).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(StoreError::Silent),
        }
    }

    /// Looks something up.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.inner);
        let asking = tokio::task::spawn_blocking(move || {
            let kept = inner.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = kept.map_or_else(|| open::reader(&inner.directory), Ok)?;
            let answer = question(&connection);
            let mut readers = inner.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < KEPT_READERS {
                readers.push(connection);
            }
            answer
        });
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(answer)) => answer.map_err(|error| StoreError::of(&error)),
            Ok(Err(_)) | Err(_) => Err(StoreError::Silent),
        }
    }
}
