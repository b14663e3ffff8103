//! Choices that hold for the whole host.

use rusqlite::{Connection, OptionalExtension as _};

use crate::wire::{ApprovalMode, ApprovalPolicy};

const APPROVALS: &str = "approvals";
const FIRST_OWNER: &str = "first_owner";
/// A day: long enough for a person to come back, short enough that a forgotten card ends.
const EXPIRES_AFTER: u64 = 24 * 3_600;

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self { mode: ApprovalMode::Normal, expires_after_seconds: Some(EXPIRES_AFTER) }
    }
}

/// How long cards wait, and whether there are any.
pub(crate) fn policy(connection: &Connection) -> Result<ApprovalPolicy, rusqlite::Error> {
    let sql = "SELECT value FROM choices WHERE name = ?1";
    let value: Option<String> =
        connection.query_row(sql, [APPROVALS], |row| row.get(0)).optional()?;
    Ok(value.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Chooses another.
pub(crate) fn set_policy(
    connection: &Connection,
    policy: &ApprovalPolicy,
) -> Result<(), rusqlite::Error> {
    let value = serde_json::to_string(policy).unwrap_or_default();
    let sql = "INSERT INTO choices (name, value) VALUES (?1, ?2) \
               ON CONFLICT (name) DO UPDATE SET value = ?2";
    connection.execute(sql, [APPROVALS, &value]).map(drop)
}

/// The host's first owner, who is that for good: nobody else is to come into what their agents
/// remember. Chosen once, from those who may do everything.
pub(crate) fn first_owner(
    connection: &Connection,
    otherwise: &str,
) -> Result<String, rusqlite::Error> {
    let sql = "INSERT OR IGNORE INTO choices (name, value) VALUES (?1, json_quote(coalesce( \
               (SELECT name FROM users WHERE role = 'owner' ORDER BY created_at, rowid LIMIT 1), \
               ?2)))";
    connection.execute(sql, [FIRST_OWNER, otherwise])?;
    let sql = "SELECT json_extract(value, '$') FROM choices WHERE name = ?1";
    connection.query_row(sql, [FIRST_OWNER], |row| row.get(0))
}
