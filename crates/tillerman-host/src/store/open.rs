//! Opening the data directory: its rights, its lock, its database.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::FlockOperation;

use crate::store::migrations::{migrate, version};

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenStoreError {
    /// The directory cannot be made or read.
    #[error("{} cannot be used as the data directory: {source}", path.display())]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another host works there.
    #[error(
        "another host is using {}. Stop it first, or give this one its own directory with \
         --data-dir", path.display()
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A later program wrote the database.
    #[error(
        "the database has version {found} and this program knows {known}. It was left as it is. \
         Start the newer program that wrote it, or choose another directory with --data-dir"
    )]
    Newer {
        /// The version that was found.
        found: usize,
        /// The newest version that is known.
        known: usize,
    },
    /// What is there is no database, or a broken one.
    #[error(
        "{} is damaged: {source}. It was left as it is. Move it away with the -wal and -shm files \
         beside it and run tillerman reindex, which finds conversations again in their transcripts; \
         projects, users and open cards are in a backup of the file or lost", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The database refuses.
    #[error("the database cannot be opened: {0}")]
    Database(#[from] rusqlite::Error),
    /// No thread could be started for it.
    #[error("the database's thread cannot be started: {0}")]
    Thread(std::io::Error),
}

/// The name of the database in its directory.
pub(crate) const DATABASE: &str = "host.db";
pub(crate) const LOCK: &str = "host.lock";

/// Makes the directory where it is missing, for nobody but its owner.
pub(crate) fn prepare(directory: &Path) -> Result<(), OpenStoreError> {
    let failed = |source| OpenStoreError::Directory { path: directory.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    std::fs::set_permissions(directory, Permissions::from_mode(0o700)).map_err(failed)
}

/// Keeps other hosts out for as long as the file stays open.
pub(crate) fn lock(directory: &Path) -> Result<File, OpenStoreError> {
    let path = directory.join(LOCK);
    let opened =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = opened.map_err(|source| OpenStoreError::Directory { path: path.clone(), source })?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(_) => Err(OpenStoreError::Busy { path: directory.to_owned() }),
    }
}

/// The connection that writes, with the newest schema.
pub(crate) fn writer(directory: &Path) -> Result<Connection, OpenStoreError> {
    let path = directory.join(DATABASE);
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    made.map_err(|source| OpenStoreError::Directory { path: path.clone(), source })?;
    prepared(&path).map_err(|error| match error {
        OpenStoreError::Database(source) if is_damage(&source) => {
            OpenStoreError::Damaged { path, source }
        }
        other => other,
    })
}

fn prepared(path: &Path) -> Result<Connection, OpenStoreError> {
    let mut connection = Connection::open(path)?;
    // Damage at the beginning, and a later program's work, are found here, before anything is
    // changed.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let from = version(&connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A card that was shown must be there after a power cut; commits are grouped to afford it.
    connection.pragma_update(None, "synchronous", "FULL")?;
    tune(&connection)?;
    migrate(&mut connection, from)?;
    Ok(connection)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// A connection that only reads.
pub(crate) fn reader(directory: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(directory.join(DATABASE), flags)?;
    tune(&connection)?;
    Ok(connection)
}

fn tune(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))
}
