//! Users, their roles, the hashes of their tokens and of the cookies that stand for them.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tillerman_protocol::Moment;

use crate::access::{Role, User};

/// A user as stored: the token itself is known to nobody but its holder.
#[derive(Clone, Debug)]
pub(crate) struct UserRow {
    pub(crate) user: User,
    pub(crate) token_hash: Vec<u8>,
}

impl UserRow {
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let role: String = row.get(1)?;
        let user = User { name: row.get(0)?, role: Role::parse(&role).unwrap_or(Role::Viewer) };
        Ok(Self { user, token_hash: row.get(2)? })
    }

    pub(crate) fn all(connection: &Connection) -> Result<Vec<Self>, rusqlite::Error> {
        let mut statement =
            connection.prepare_cached("SELECT name, role, token_hash FROM users")?;
        statement.query_map([], Self::read)?.collect()
    }

    /// Adds a user or gives one a new token and role; cookies of the old token end.
    pub(crate) fn put(&self, connection: &Connection, now: Moment) -> Result<(), rusqlite::Error> {
        connection.execute("DELETE FROM logins WHERE user = ?1", [&self.user.name])?;
        connection.execute(
            "INSERT INTO users (name, role, token_hash, created_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (name) DO UPDATE SET role = ?2, token_hash = ?3",
            params![self.user.name, self.user.role.as_str(), self.token_hash, now.as_millis()],
        )?;
        Ok(())
    }

    pub(crate) fn delete(connection: &Connection, name: &str) -> Result<bool, rusqlite::Error> {
        Ok(connection.execute("DELETE FROM users WHERE name = ?1", [name])? > 0)
    }

    /// Remembers that a cookie stands for a user.
    pub(crate) fn sign_in(
        connection: &Connection,
        cookie_hash: &[u8],
        user: &str,
        now: Moment,
    ) -> Result<(), rusqlite::Error> {
        connection.execute(
            "INSERT INTO logins (cookie_hash, user, created_at) VALUES (?1, ?2, ?3)",
            params![cookie_hash, user, now.as_millis()],
        )?;
        Ok(())
    }

    /// The user for whom a cookie stands, if it is not older than that.
    pub(crate) fn of_cookie(
        connection: &Connection,
        cookie_hash: &[u8],
        not_before: Moment,
    ) -> Result<Option<User>, rusqlite::Error> {
        let sql = "SELECT u.name, u.role, u.token_hash FROM logins l JOIN users u \
                   ON u.name = l.user WHERE l.cookie_hash = ?1 AND l.created_at >= ?2";
        let found = connection
            .prepare_cached(sql)?
            .query_row(params![cookie_hash, not_before.as_millis()], Self::read)
            .optional()?;
        Ok(found.map(|row| row.user))
    }

    /// Forgets cookies that are too old.
    pub(crate) fn sweep(
        connection: &Connection,
        not_before: Moment,
    ) -> Result<(), rusqlite::Error> {
        connection
            .execute("DELETE FROM logins WHERE created_at < ?1", [not_before.as_millis()])
            .map(drop)
    }
}
