//! The versions of the database and the way from one to the next.

use rusqlite::Connection;

use crate::store::open::OpenStoreError;

/// One script per version; a script that was released never changes.
const SCRIPTS: [&str; 3] = [
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
    include_str!("schema/0003.sql"),
];

/// The version this program writes.
pub(crate) const NEWEST: usize = SCRIPTS.len();

/// The version of a database; one from a later program is left alone.
pub(crate) fn version(connection: &Connection) -> Result<usize, OpenStoreError> {
    let found: usize = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > NEWEST {
        return Err(OpenStoreError::Newer { found, known: NEWEST });
    }
    Ok(found)
}

/// Brings a database from this version up to the newest.
pub(crate) fn migrate(connection: &mut Connection, from: usize) -> Result<(), OpenStoreError> {
    for (number, script) in SCRIPTS.iter().enumerate().skip(from) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(script)?;
        transaction.pragma_update(None, "user_version", number + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
