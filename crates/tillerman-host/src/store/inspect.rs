//! Looking at a data directory without changing anything in it.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::store::migrations::NEWEST;
use crate::store::open::{DATABASE, LOCK, reader};

/// What a data directory holds, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataInspection {
    /// The database.
    pub database: DatabaseState,
    /// Whether a host works there now.
    pub is_in_use: bool,
    /// Files that others than their owner can read or write.
    pub open_files: Vec<String>,
}

/// How a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseState {
    /// There is none yet.
    Missing,
    /// This program can work with it.
    Usable {
        /// Its version.
        version: usize,
        /// The version that the next start brings it to.
        newest: usize,
    },
    /// A later program wrote it.
    Newer {
        /// Its version.
        version: usize,
        /// The newest version that is known.
        newest: usize,
    },
    /// It cannot be read.
    Broken(String),
}

impl DataInspection {
    /// Looks at a data directory. Nothing is made, changed or waited for.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        Self {
            database: database(directory),
            is_in_use: is_in_use(directory),
            open_files: open_files(directory),
        }
    }
}

fn database(directory: &Path) -> DatabaseState {
    if !directory.join(DATABASE).exists() {
        return DatabaseState::Missing;
    }
    let asked = reader(directory).and_then(|db| {
        let version: usize = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        // Reading one page shows whether it is a database at all.
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(version)
    });
    match asked {
        Ok(version) if version > NEWEST => DatabaseState::Newer { version, newest: NEWEST },
        Ok(version) => DatabaseState::Usable { version, newest: NEWEST },
        Err(error) => DatabaseState::Broken(error.to_string()),
    }
}

fn is_in_use(directory: &Path) -> bool {
    // The lock is let go of with the file.
    let file = File::open(directory.join(LOCK));
    file.is_ok_and(|file| rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_err())
}

fn open_files(directory: &Path) -> Vec<String> {
    let names = [DATABASE.to_owned(), format!("{DATABASE}-wal"), format!("{DATABASE}-shm")];
    let is_open = |name: &String| {
        let metadata = std::fs::metadata(directory.join(name));
        metadata.is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
    };
    names.into_iter().filter(is_open).collect()
}
