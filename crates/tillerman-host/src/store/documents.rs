//! Projects, personas and skills in the database, each a JSON document with a name.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tillerman_protocol::Moment;

/// What kind of document it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Project,
    Persona,
    Skill,
}

impl Kind {
    /// The name in the database and in messages for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Persona => "persona",
            Self::Skill => "skill",
        }
    }

    pub(crate) fn put(
        self,
        connection: &Connection,
        id: &str,
        name: &str,
        document: &(impl Serialize + ?Sized),
        now: Moment,
    ) -> Result<(), rusqlite::Error> {
        let body = serde_json::to_string(document).unwrap_or_default();
        connection.execute(
            "INSERT INTO documents (kind, id, name, body, updated_at) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (kind, id) DO UPDATE SET name = ?3, body = ?4, updated_at = ?5",
            params![self.as_str(), id, name, body, now.as_millis()],
        )?;
        Ok(())
    }

    pub(crate) fn find<T: DeserializeOwned>(
        self,
        connection: &Connection,
        id: &str,
    ) -> Result<Option<T>, rusqlite::Error> {
        let sql = "SELECT body FROM documents WHERE kind = ?1 AND id = ?2";
        let body: Option<String> =
            connection.query_row(sql, [self.as_str(), id], |row| row.get(0)).optional()?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }

    pub(crate) fn list<T: DeserializeOwned>(
        self,
        connection: &Connection,
    ) -> Result<Vec<T>, rusqlite::Error> {
        let sql = "SELECT body FROM documents WHERE kind = ?1 ORDER BY name, id";
        let mut statement = connection.prepare(sql)?;
        let bodies: Vec<String> =
            statement.query_map([self.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
    }

    pub(crate) fn delete(self, connection: &Connection, id: &str) -> Result<bool, rusqlite::Error> {
        let sql = "DELETE FROM documents WHERE kind = ?1 AND id = ?2";
        Ok(connection.execute(sql, [self.as_str(), id])? > 0)
    }
}
