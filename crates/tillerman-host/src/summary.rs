//! Numbers about a data directory for people who help, without anything that was said.

use crate::store::{Store, StoreError};

/// What is counted, and how.
const COUNTS: [(&str, &str); 6] = [
    ("version of the database", "SELECT user_version, '' FROM pragma_user_version"),
    ("conversations", "SELECT count(*), state FROM conversations GROUP BY state"),
    ("events", "SELECT count(*), '' FROM events"),
    ("messages", "SELECT count(*), state FROM messages GROUP BY state"),
    ("cards", "SELECT count(*), state FROM approvals GROUP BY state"),
    ("users", "SELECT count(*), role FROM users GROUP BY role"),
];

impl Store {
    /// Numbers about everything that is kept, one line each.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub async fn summary(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| {
            let mut lines = Vec::new();
            for (what, sql) in COUNTS {
                let mut statement = db.prepare(sql)?;
                let rows = statement
                    .query_map([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?)))?;
                for row in rows {
                    let (count, state) = row?;
                    lines.push(format!("{what} {state}: {count}"));
                }
            }
            Ok(lines)
        })
        .await
    }
}
