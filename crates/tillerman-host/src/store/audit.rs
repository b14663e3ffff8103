//! Who did what and when; rows are only ever added.

use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tillerman_protocol::Moment;

/// One line of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AuditNote {
    /// When.
    #[schemars(with = "String")]
    pub(crate) at: Moment,
    /// Who.
    pub(crate) user: String,
    /// What was done.
    pub(crate) action: String,
    /// To what.
    pub(crate) subject: String,
    /// What else is worth knowing.
    pub(crate) detail: String,
}

impl AuditNote {
    pub(crate) fn insert(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        connection.execute(
            "INSERT INTO audit (at, user, action, subject, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.at.as_millis(), self.user, self.action, self.subject, self.detail],
        )?;
        Ok(())
    }

    /// The newest first.
    pub(crate) fn list(
        connection: &Connection,
        limit: usize,
    ) -> Result<Vec<Self>, rusqlite::Error> {
        let sql = "SELECT at, user, action, subject, detail FROM audit ORDER BY id DESC LIMIT ?1";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([limit], |row| {
            Ok(Self {
                at: Moment::from_millis(row.get(0)?),
                user: row.get(1)?,
                action: row.get(2)?,
                subject: row.get(3)?,
                detail: row.get(4)?,
            })
        })?;
        rows.collect()
    }
}
