//! Numbers that the database knows, so that they are right after a restart as well.

use rusqlite::Connection;

use crate::metrics::exposition::Exposition;

/// The states that a conversation can be in; one without conversations is shown as zero.
const STATES: [&str; 5] = ["idle", "running", "waiting", "paused", "failed"];

/// What is kept at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    conversations: Vec<(String, u64)>,
    open_cards: u64,
    waiting_messages: u64,
}

impl Kept {
    pub(crate) fn read(db: &Connection) -> Result<Self, rusqlite::Error> {
        let mut statement =
            db.prepare_cached("SELECT state, count(*) FROM conversations GROUP BY state")?;
        let states = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let count = |sql: &str| db.prepare_cached(sql)?.query_row([], |row| row.get(0));
        Ok(Self {
            conversations: states.collect::<Result<_, _>>()?,
            open_cards: count("SELECT count(*) FROM approvals WHERE state = 'pending'")?,
            waiting_messages: count("SELECT count(*) FROM messages WHERE state = 'waiting'")?,
        })
    }

    pub(crate) fn write(&self, text: &mut Exposition) {
        text.family("conversations", "Conversations, by state.", "gauge");
        for state in STATES {
            let found = self.conversations.iter().find(|(held, _)| held == state);
            let count = found.map_or(0, |(_, count)| *count);
            text.sample("conversations", &[("state", state)], count);
        }
        text.gauge("approvals_open", "Cards that wait for an answer.", self.open_cards);
        let help = "Messages that wait for their turn.";
        text.gauge("messages_waiting", help, self.waiting_messages);
    }
}
