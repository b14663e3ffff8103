//! Conversations in the database.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tillerman_protocol::Moment;

use crate::wire::{Conversation, ConversationState};

/// How much of what was said last is kept with a conversation.
const LAST_TEXT: usize = 200;
/// Everything that a row of a conversation is read from.
const COLUMNS: &str = "c.id, c.title, c.project_id, c.cwd, c.model, c.permission_mode, \
     c.created_at, c.updated_at, c.archived, c.session_id, c.session_begun, c.session_cost, \
     c.state, c.cost_usd, c.last_text, c.last_seq, c.outages, c.titled_by, c.drops_message, c.owner, \
     (SELECT count(*) FROM approvals a WHERE a.conversation_id = c.id AND a.state = 'pending'), \
     (SELECT count(*) FROM messages m WHERE m.conversation_id = c.id \
        AND m.state IN ('waiting', 'sent') AND m.position > 0)";

/// A conversation with what only the host needs to know about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConversationRow {
    /// What clients see; the model is empty where the conversation names none.
    pub(crate) shown: Conversation,
    /// Whether the session has a transcript, so that it is resumed and not begun.
    pub(crate) session_begun: bool,
    /// What the session had cost when its last round ended.
    pub(crate) session_cost: f64,
    /// The number of the newest event.
    pub(crate) last_seq: u64,
    /// Rounds in a row that the model's provider failed.
    pub(crate) outages: u32,
    /// Whether a person chose the title.
    pub(crate) is_titled: bool,
    /// The message that the session forgets when it is resumed, with everything after it.
    pub(crate) drops_message: Option<String>,
}

/// Which conversations are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListQuery {
    pub(crate) archived: bool,
    pub(crate) project_id: Option<String>,
    /// Only what is older than this: a time and the id that breaks ties.
    pub(crate) before: Option<(i64, String)>,
    pub(crate) limit: usize,
}

impl ConversationRow {
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let state: String = row.get(12)?;
        let titled_by: String = row.get(17)?;
        let shown = Conversation {
            id: row.get(0)?,
            title: row.get(1)?,
            owner: row.get(19)?,
            project_id: row.get(2)?,
            cwd: row.get(3)?,
            model: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
            permission_mode: row.get(5)?,
            created_at: Moment::from_millis(row.get(6)?),
            updated_at: Moment::from_millis(row.get(7)?),
            archived: row.get(8)?,
            session_id: row.get(9)?,
            state: ConversationState::parse(&state),
            pending_approvals: row.get(20)?,
            queued: row.get(21)?,
            cost_usd: row.get(13)?,
            last_text: row.get(14)?,
            snippet: None,
        };
        Ok(Self {
            shown,
            session_begun: row.get(10)?,
            session_cost: row.get(11)?,
            last_seq: row.get(15)?,
            outages: row.get(16)?,
            is_titled: titled_by == "person",
            drops_message: row.get(18)?,
        })
    }

    pub(crate) fn insert(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let shown = &self.shown;
        connection.execute(
            "INSERT INTO conversations (id, title, titled_by, project_id, cwd, model, \
             permission_mode, created_at, updated_at, owner) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                shown.id,
                shown.title,
                if self.is_titled { "person" } else { "nobody" },
                shown.project_id,
                shown.cwd,
                Some(&shown.model).filter(|model| !model.is_empty()),
                shown.permission_mode,
                shown.created_at.as_millis(),
                shown.updated_at.as_millis(),
                shown.owner,
            ],
        )?;
        Ok(())
    }

    /// Writes back everything that changes in the life of a conversation.
    pub(crate) fn update(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let shown = &self.shown;
        connection.execute(
            "UPDATE conversations SET title = ?2, titled_by = ?3, model = ?4, \
             permission_mode = ?5, updated_at = ?6, archived = ?7, session_id = ?8, \
             session_begun = ?9, session_cost = ?10, state = ?11, cost_usd = ?12, \
             last_text = ?13, last_seq = ?14, outages = ?15, drops_message = ?16 WHERE id = ?1",
            params![
                shown.id,
                shown.title,
                if self.is_titled { "person" } else { "nobody" },
                Some(&shown.model).filter(|model| !model.is_empty()),
                shown.permission_mode,
                shown.updated_at.as_millis(),
                shown.archived,
                shown.session_id,
                self.session_begun,
                self.session_cost,
                shown.state.as_str(),
                shown.cost_usd,
                shown.last_text,
                self.last_seq,
                self.outages,
                self.drops_message,
            ],
        )?;
        Ok(())
    }

    pub(crate) fn find(connection: &Connection, id: &str) -> Result<Option<Self>, rusqlite::Error> {
        let sql = format!("SELECT {COLUMNS} FROM conversations c WHERE c.id = ?1");
        connection.prepare_cached(&sql)?.query_row([id], Self::read).optional()
    }

    /// The conversation that a session belongs to.
    pub(crate) fn of_session(
        connection: &Connection,
        session: &str,
    ) -> Result<Option<Self>, rusqlite::Error> {
        let sql = format!("SELECT {COLUMNS} FROM conversations c WHERE c.session_id = ?1");
        connection.query_row(&sql, [session], Self::read).optional()
    }

    pub(crate) fn list(
        connection: &Connection,
        query: &ListQuery,
    ) -> Result<Vec<Self>, rusqlite::Error> {
        let (at, id) = query.before.clone().unwrap_or((i64::MAX, String::new()));
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations c WHERE c.archived = ?1 \
             AND (?2 IS NULL OR c.project_id = ?2) \
             AND (c.updated_at < ?3 OR (c.updated_at = ?3 AND c.id > ?4)) \
             ORDER BY c.updated_at DESC, c.id LIMIT ?5"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(
            params![query.archived, query.project_id, at, id, query.limit],
            Self::read,
        )?;
        rows.collect()
    }

    /// Conversations that were at work when the host ended, or were just about to be: somebody had
    /// answered, and no session has heard of it.
    pub(crate) fn unfinished(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
        let sql = "SELECT id FROM conversations WHERE state IN ('running', 'waiting', 'paused') \
                   UNION SELECT conversation_id FROM approvals WHERE delivered = 0 AND told = 0 \
                   AND state IN ('allowed', 'denied', 'cancelled', 'expired')";
        let mut statement = connection.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    pub(crate) fn delete(connection: &Connection, id: &str) -> Result<bool, rusqlite::Error> {
        Ok(connection.execute("DELETE FROM conversations WHERE id = ?1", [id])? > 0)
    }

    /// Notes what was said last, and names a conversation after what was said first.
    pub(crate) fn heard(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        self.shown.last_text = beginning(&text, LAST_TEXT);
        if self.shown.title.is_empty() {
            self.shown.title = beginning(&text, 60);
        }
    }
}

fn beginning(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}
