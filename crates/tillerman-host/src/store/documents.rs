//! Projects, personas, skills and agents in the database, each a JSON document with a name.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tillerman_protocol::Moment;

/// What kind of document it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Project,
    Persona,
    Skill,
    Agent,
}

/// A document that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileRow {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Project, Self::Persona, Self::Skill, Self::Agent];

    /// The name in the database and in messages for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Persona => "persona",
            Self::Skill => "skill",
            Self::Agent => "agent",
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

    /// Keeps a document that was read from a file; `held` is the file and the document.
    pub(crate) fn put_file(
        self,
        connection: &Connection,
        id: &str,
        name: &str,
        held: (&str, &Value),
        now: Moment,
    ) -> Result<(), rusqlite::Error> {
        self.put(connection, id, name, held.1, now)?;
        let sql = "UPDATE documents SET path = ?3 WHERE kind = ?1 AND id = ?2";
        connection.execute(sql, [self.as_str(), id, held.0])?;
        Ok(())
    }

    /// The documents that were read from files.
    pub(crate) fn of_files(self, connection: &Connection) -> Result<Vec<FileRow>, rusqlite::Error> {
        let sql = "SELECT id, path, body FROM documents WHERE kind = ?1 AND path IS NOT NULL";
        let mut statement = connection.prepare(sql)?;
        let read = |row: &Row<'_>| {
            let body: String = row.get(2)?;
            let body = serde_json::from_str(&body).unwrap_or_default();
            Ok(FileRow { id: row.get(0)?, path: row.get(1)?, body })
        };
        statement.query_map([self.as_str()], read)?.collect()
    }

    pub(crate) fn find<T: DeserializeOwned>(
        self,
        connection: &Connection,
        id: &str,
    ) -> Result<Option<T>, rusqlite::Error> {
        let sql = "SELECT body, path FROM documents WHERE kind = ?1 AND id = ?2";
        Ok(connection.query_row(sql, [self.as_str(), id], read).optional()?.flatten())
    }

    pub(crate) fn list<T: DeserializeOwned>(
        self,
        connection: &Connection,
    ) -> Result<Vec<T>, rusqlite::Error> {
        let sql = "SELECT body, path FROM documents WHERE kind = ?1 ORDER BY name, id";
        let mut statement = connection.prepare(sql)?;
        let all: Vec<Option<T>> =
            statement.query_map([self.as_str()], read)?.collect::<Result<_, _>>()?;
        Ok(all.into_iter().flatten().collect())
    }

    pub(crate) fn delete(self, connection: &Connection, id: &str) -> Result<bool, rusqlite::Error> {
        let sql = "DELETE FROM documents WHERE kind = ?1 AND id = ?2";
        Ok(connection.execute(sql, [self.as_str(), id])? > 0)
    }
}

/// A document with the file it was read from; nothing when a later program wrote it.
fn read<T: DeserializeOwned>(row: &Row<'_>) -> Result<Option<T>, rusqlite::Error> {
    let (body, path): (String, Option<String>) = (row.get(0)?, row.get(1)?);
    let Ok(mut body) = serde_json::from_str::<Value>(&body) else { return Ok(None) };
    if let (Some(fields), Some(path)) = (body.as_object_mut(), path) {
        fields.insert("source".to_owned(), Value::String(path));
    }
    Ok(serde_json::from_value(body).ok())
}
