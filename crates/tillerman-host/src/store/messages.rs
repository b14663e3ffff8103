//! People's messages in the database: accepted, sent, taken up, done.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tillerman_protocol::Moment;

use crate::store::AttachmentRow;
use crate::wire::{Accepted, Attachment};

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageState {
    /// Accepted; no run has it.
    Waiting,
    /// A run has it and has not begun with it.
    Sent,
    /// A run works on it.
    Taken,
    /// A run has answered it.
    Done,
    /// A person took it back.
    Withdrawn,
}

impl MessageState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Taken => "taken",
            Self::Done => "done",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageRow {
    pub(crate) id: String,
    pub(crate) client_id: String,
    pub(crate) author: String,
    pub(crate) text: String,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) position: u32,
    pub(crate) at: Moment,
}

impl MessageRow {
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let attachments: String = row.get(4)?;
        Ok(Self {
            id: row.get(0)?,
            client_id: row.get(1)?,
            author: row.get(2)?,
            text: row.get(3)?,
            attachments: serde_json::from_str(&attachments).unwrap_or_default(),
            position: row.get(5)?,
            at: Moment::from_millis(row.get(6)?),
        })
    }

    pub(crate) fn insert(
        &self,
        connection: &Connection,
        conversation: &str,
    ) -> Result<(), rusqlite::Error> {
        connection.execute(
            "INSERT INTO messages (id, conversation_id, client_id, number, author, text, \
             attachments, state, position, at) VALUES (?1, ?2, ?3, (SELECT coalesce(max(number), 0) \
             + 1 FROM messages WHERE conversation_id = ?2), ?4, ?5, '[]', 'waiting', ?6, ?7)",
            params![
                self.id,
                conversation,
                self.client_id,
                self.author,
                self.text,
                self.position,
                self.at.as_millis()
            ],
        )?;
        AttachmentRow::insert_all(connection, &self.id, &self.attachments)
    }

    /// What was answered when this client sent this message before.
    pub(crate) fn receipt(
        connection: &Connection,
        conversation: &str,
        client_id: &str,
    ) -> Result<Option<Accepted>, rusqlite::Error> {
        let sql = "SELECT id, position FROM messages WHERE conversation_id = ?1 AND client_id = ?2";
        let read = |row: &Row<'_>| Ok(Accepted { message_id: row.get(0)?, position: row.get(1)? });
        connection.query_row(sql, [conversation, client_id], read).optional()
    }

    /// Messages that no run has answered, oldest first.
    pub(crate) fn unanswered(
        connection: &Connection,
        conversation: &str,
    ) -> Result<Vec<(Self, bool)>, rusqlite::Error> {
        let sql = "SELECT id, client_id, author, text, attachments, position, at, \
                   state = 'taken' FROM messages WHERE conversation_id = ?1 \
                   AND state IN ('waiting', 'sent', 'taken') ORDER BY number";
        let mut statement = connection.prepare(sql)?;
        let rows =
            statement.query_map([conversation], |row| Ok((Self::read(row)?, row.get(7)?)))?;
        let mut rows: Vec<(Self, bool)> = rows.collect::<Result<_, _>>()?;
        for (row, _) in &mut rows {
            row.attachments.extend(AttachmentRow::of_message(connection, &row.id)?);
        }
        Ok(rows)
    }

    /// Moves a message on. The files of one that was taken back go with it.
    pub(crate) fn advance(
        connection: &Connection,
        id: &str,
        state: MessageState,
    ) -> Result<(), rusqlite::Error> {
        let is_over = matches!(state, MessageState::Done | MessageState::Withdrawn);
        let sql = "UPDATE messages SET state = ?2, \
                   attachments = CASE WHEN ?3 THEN '[]' ELSE attachments END WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![id, state.as_str(), is_over])?;
        if state == MessageState::Withdrawn {
            AttachmentRow::forget(connection, id)?;
        }
        Ok(())
    }

    /// Gives a message its new place in the queue.
    pub(crate) fn place(
        connection: &Connection,
        id: &str,
        position: u32,
    ) -> Result<(), rusqlite::Error> {
        let sql = "UPDATE messages SET position = ?2 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![id, position])?;
        Ok(())
    }

    /// Withdraws a message and everything after it. False when nothing stands before it.
    pub(crate) fn withdraw_from(
        connection: &Connection,
        conversation: &str,
        id: &str,
    ) -> Result<bool, rusqlite::Error> {
        let sql = "SELECT number FROM messages WHERE id = ?1 AND conversation_id = ?2";
        let number: Option<u64> =
            connection.query_row(sql, [id, conversation], |row| row.get(0)).optional()?;
        let Some(number) = number else { return Ok(false) };
        connection.execute(
            "UPDATE messages SET state = 'withdrawn' WHERE conversation_id = ?1 AND number >= ?2",
            params![conversation, number],
        )?;
        connection.execute(
            "DELETE FROM attachments WHERE message_id IN \
             (SELECT id FROM messages WHERE conversation_id = ?1 AND number >= ?2)",
            params![conversation, number],
        )?;
        let sql = "SELECT count(*) FROM messages \
                   WHERE conversation_id = ?1 AND number < ?2 AND state != 'withdrawn'";
        let before: u64 =
            connection.query_row(sql, params![conversation, number], |row| row.get(0))?;
        Ok(before > 0)
    }
}
