//! Files that came with messages, kept for as long as their conversation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::wire::{Attachment, AttachmentNote};

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttachmentRow {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: Vec<u8>,
}

impl AttachmentRow {
    /// Keeps the files of a message that has just been stored.
    pub(crate) fn insert_all(
        connection: &Connection,
        message: &str,
        attachments: &[Attachment],
    ) -> Result<(), rusqlite::Error> {
        let sql = "INSERT INTO attachments (message_id, place, name, media_type, bytes) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut statement = connection.prepare_cached(sql)?;
        for (place, attachment) in attachments.iter().enumerate() {
            // What is not base64 was refused before the message was taken.
            let bytes = STANDARD.decode(&attachment.data_base64).unwrap_or_default();
            let Attachment { name, media_type, .. } = attachment;
            statement.execute(params![message, place, name, media_type, bytes])?;
        }
        Ok(())
    }

    /// The files of a message, as they came.
    pub(crate) fn of_message(
        connection: &Connection,
        message: &str,
    ) -> Result<Vec<Attachment>, rusqlite::Error> {
        let sql = "SELECT name, media_type, bytes FROM attachments WHERE message_id = ?1 \
                   ORDER BY place";
        let mut statement = connection.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            let Self { name, media_type, bytes } = Self::read(row)?;
            Ok(Attachment { name, media_type, data_base64: STANDARD.encode(bytes) })
        };
        statement.query_map([message], read)?.collect()
    }

    /// One file of a message of a conversation.
    pub(crate) fn find(
        connection: &Connection,
        conversation: &str,
        message: &str,
        place: u32,
    ) -> Result<Option<Self>, rusqlite::Error> {
        let sql = "SELECT a.name, a.media_type, a.bytes FROM attachments a \
                   JOIN messages m ON m.id = a.message_id \
                   WHERE m.conversation_id = ?1 AND m.id = ?2 AND a.place = ?3";
        connection.query_row(sql, params![conversation, message, place], Self::read).optional()
    }

    /// What people are told of the files of a message.
    pub(crate) fn notes(
        connection: &Connection,
        conversation: &str,
        message: &str,
    ) -> Result<Vec<AttachmentNote>, rusqlite::Error> {
        let sql = "SELECT a.name, a.media_type, length(a.bytes), a.place FROM attachments a \
                   JOIN messages m ON m.id = a.message_id \
                   WHERE m.conversation_id = ?1 AND m.id = ?2 ORDER BY a.place";
        let mut statement = connection.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            Ok(AttachmentNote {
                name: row.get(0)?,
                media_type: row.get(1)?,
                size: row.get(2)?,
                url: Some(address(conversation, message, row.get(3)?)),
            })
        };
        statement.query_map([conversation, message], read)?.collect()
    }

    /// Drops the files of a message.
    pub(crate) fn forget(connection: &Connection, message: &str) -> Result<(), rusqlite::Error> {
        let sql = "DELETE FROM attachments WHERE message_id = ?1";
        connection.prepare_cached(sql)?.execute([message])?;
        Ok(())
    }

    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        Ok(Self { name: row.get(0)?, media_type: row.get(1)?, bytes: row.get(2)? })
    }
}

/// Where a client finds the bytes of a file.
pub(crate) fn address(conversation: &str, message: &str, place: usize) -> String {
    format!("/api/v1/conversations/{conversation}/attachments/{message}/{place}")
}
