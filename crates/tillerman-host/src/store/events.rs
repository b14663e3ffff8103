//! Events in the database, numbered without gaps.

use rusqlite::{Connection, params};
use serde_json::value::RawValue;
use tillerman_protocol::Moment;

/// An event that has its number.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) seq: u64,
    pub(crate) at: Moment,
    /// The event as JSON.
    pub(crate) body: String,
    /// What a search can find in it; empty for nothing.
    pub(crate) words: String,
}

impl NewEvent {
    pub(crate) fn insert(
        &self,
        connection: &Connection,
        conversation: &str,
    ) -> Result<(), rusqlite::Error> {
        let sql = "INSERT INTO events (conversation_id, seq, at, body) VALUES (?1, ?2, ?3, ?4)";
        connection.prepare_cached(sql)?.execute(params![
            conversation,
            self.seq,
            self.at.as_millis(),
            self.body
        ])?;
        if !self.words.is_empty() {
            let sql = "INSERT INTO words (text, conversation_id, seq) VALUES (?1, ?2, ?3)";
            connection.prepare_cached(sql)?.execute(params![self.words, conversation, self.seq])?;
        }
        Ok(())
    }

    /// Events after a number, oldest first.
    pub(crate) fn after(
        connection: &Connection,
        conversation: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Self>, rusqlite::Error> {
        let sql = "SELECT seq, at, body FROM events WHERE conversation_id = ?1 AND seq > ?2 \
                   ORDER BY seq LIMIT ?3";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![conversation, after, limit], |row| {
            Ok(Self {
                seq: row.get(0)?,
                at: Moment::from_millis(row.get(1)?),
                body: row.get(2)?,
                words: String::new(),
            })
        })?;
        rows.collect()
    }

    /// Forgets all events of a conversation.
    pub(crate) fn forget_all(
        connection: &Connection,
        conversation: &str,
    ) -> Result<(), rusqlite::Error> {
        connection.execute("DELETE FROM words WHERE conversation_id = ?1", [conversation])?;
        connection.execute("DELETE FROM events WHERE conversation_id = ?1", [conversation])?;
        Ok(())
    }

    /// The event's JSON for embedding into a larger one; damaged rows read as null.
    pub(crate) fn raw(&self) -> Box<RawValue> {
        RawValue::from_string(self.body.clone()).unwrap_or_default()
    }
}
