//! Cards in the database: written before they are shown, answered exactly once.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;
use tillerman_protocol::Moment;

use crate::wire::{Approval, ApprovalState};

/// A card with what only the host needs to know about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredApproval {
    pub(crate) shown: Approval,
    /// The session that asked.
    pub(crate) session_id: String,
    /// The answer in the form an engine takes, once there is one.
    pub(crate) answer: Option<Value>,
    /// Whether an engine has had it; an answer is used once.
    pub(crate) delivered: bool,
    /// Whether the session was told of the answer, since it could not take the question up again.
    pub(crate) told: bool,
}

/// What became of an attempt to answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerOutcome {
    /// It is the answer.
    Taken(Box<StoredApproval>),
    /// Somebody was faster, or the question is gone.
    Late(Box<Approval>),
    /// There is no such card.
    Unknown,
}

impl StoredApproval {
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let body: String = row.get(0)?;
        let shown = serde_json::from_str(&body).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(
                0,
                rusqlite::types::Type::Text,
                Box::new(error),
            )
        })?;
        let answer: Option<String> = row.get(2)?;
        Ok(Self {
            shown,
            session_id: row.get(1)?,
            answer: answer.and_then(|text| serde_json::from_str(&text).ok()),
            delivered: row.get(3)?,
            told: row.get(4)?,
        })
    }

    pub(crate) fn insert(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let shown = &self.shown;
        connection.execute(
            "INSERT INTO approvals (id, conversation_id, session_id, tool_use_id, input_hash, \
             state, created_at, expires_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                shown.id,
                shown.conversation_id,
                self.session_id,
                shown.tool_use_id,
                shown.input_hash,
                shown.state.as_str(),
                shown.created_at.as_millis(),
                shown.expires_at.map(Moment::as_millis),
                serde_json::to_string(shown).unwrap_or_default(),
            ],
        )?;
        Ok(())
    }

    pub(crate) fn find(connection: &Connection, id: &str) -> Result<Option<Self>, rusqlite::Error> {
        let sql = "SELECT body, session_id, answer, delivered, told FROM approvals WHERE id = ?1";
        connection.query_row(sql, [id], Self::read).optional()
    }

    /// The newest cards first; only those that wait, or all of them.
    pub(crate) fn list(
        connection: &Connection,
        conversation: Option<&str>,
        only_pending: bool,
        limit: usize,
    ) -> Result<Vec<Self>, rusqlite::Error> {
        let sql = "SELECT body, session_id, answer, delivered, told FROM approvals \
                   WHERE (?1 IS NULL OR conversation_id = ?1) AND (NOT ?2 OR state = 'pending') \
                   ORDER BY created_at DESC, id LIMIT ?3";
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map(params![conversation, only_pending, limit], Self::read)?.collect()
    }

    /// Cards of a session that wait, or whose answer no engine has had, oldest first.
    pub(crate) fn open_of(
        connection: &Connection,
        conversation: &str,
    ) -> Result<Vec<Self>, rusqlite::Error> {
        let sql = "SELECT body, session_id, answer, delivered, told FROM approvals \
                   WHERE conversation_id = ?1 AND (state = 'pending' \
                   OR (delivered = 0 AND state IN ('allowed', 'denied', 'cancelled', 'expired'))) \
                   ORDER BY created_at, id";
        let mut statement = connection.prepare(sql)?;
        statement.query_map([conversation], Self::read)?.collect()
    }

    /// Settles a card that still waits. `settled` carries the state, the person and the time.
    pub(crate) fn settle(
        connection: &Connection,
        id: &str,
        settled: Settled,
    ) -> Result<AnswerOutcome, rusqlite::Error> {
        let Some(mut found) = Self::find(connection, id)? else {
            return Ok(AnswerOutcome::Unknown);
        };
        if found.shown.state != ApprovalState::Pending {
            return Ok(AnswerOutcome::Late(Box::new(found.shown)));
        }
        found.shown.state = settled.state;
        found.shown.answered_by = settled.by;
        found.shown.answered_at = Some(settled.at);
        found.shown.message = settled.message;
        found.answer = settled.answer;
        let sql = "UPDATE approvals SET state = ?2, answer = ?3, body = ?4 \
                   WHERE id = ?1 AND state = 'pending'";
        connection.execute(
            sql,
            params![
                id,
                found.shown.state.as_str(),
                found.answer.as_ref().map(Value::to_string),
                serde_json::to_string(&found.shown).unwrap_or_default(),
            ],
        )?;
        Ok(AnswerOutcome::Taken(Box::new(found)))
    }

    /// Notes that the session was told of answers in words.
    pub(crate) fn note_told(
        connection: &Connection,
        ids: &[String],
    ) -> Result<(), rusqlite::Error> {
        let mut statement = connection.prepare("UPDATE approvals SET told = 1 WHERE id = ?1")?;
        for id in ids {
            statement.execute([id])?;
        }
        Ok(())
    }

    /// Notes that an engine has had the answer. False when it had it before.
    pub(crate) fn deliver(connection: &Connection, id: &str) -> Result<bool, rusqlite::Error> {
        // What people filled in for a server is not kept once it has it; such cards have no call.
        let sql = "UPDATE approvals SET delivered = 1, \
                   answer = CASE WHEN tool_use_id = '' THEN NULL ELSE answer END \
                   WHERE id = ?1 AND delivered = 0";
        Ok(connection.execute(sql, [id])? > 0)
    }

    /// Cards whose time is over, with their conversations.
    pub(crate) fn overdue(
        connection: &Connection,
        now: Moment,
    ) -> Result<Vec<(String, String)>, rusqlite::Error> {
        let sql = "SELECT id, conversation_id FROM approvals \
                   WHERE state = 'pending' AND expires_at <= ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        statement.query_map([now.as_millis()], read)?.collect()
    }
}

impl StoredApproval {
    /// Notes that no engine has had the answer after all.
    pub(crate) fn take_back(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let sql = "UPDATE approvals SET delivered = 0, answer = ?2 WHERE id = ?1";
        let answer = self.answer.as_ref().map(Value::to_string);
        connection.execute(sql, params![self.shown.id, answer]).map(drop)
    }

    /// Whether somebody has answered and no session knows of it.
    pub(crate) fn is_unheard(&self) -> bool {
        self.shown.state != ApprovalState::Pending && !self.told && !self.delivered
    }
}

/// How a card is settled.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub(crate) state: ApprovalState,
    pub(crate) by: Option<String>,
    pub(crate) at: Moment,
    pub(crate) message: Option<String>,
    pub(crate) answer: Option<Value>,
}
