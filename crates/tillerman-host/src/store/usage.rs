//! What rounds have used, and sums over it.

use rusqlite::{Connection, params};
use tillerman_protocol::Moment;

use crate::wire::{DayUsage, ModelSpending, ProjectSpending};

/// What one round used of one model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UsageRow {
    pub(crate) conversation_id: String,
    pub(crate) project_id: Option<String>,
    pub(crate) session_id: String,
    pub(crate) message_id: Option<String>,
    pub(crate) model: String,
    pub(crate) at: Moment,
    pub(crate) cost_usd: f64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

/// The day of a moment in UTC, such as `2026-11-15`.
pub(crate) fn day_of(at: Moment) -> String {
    at.to_string().chars().take(10).collect()
}

impl UsageRow {
    pub(crate) fn insert(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        connection.execute(
            "INSERT INTO usage (conversation_id, project_id, session_id, message_id, model, at, \
             date, cost_usd, input_tokens, output_tokens) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.conversation_id,
                self.project_id,
                self.session_id,
                self.message_id,
                self.model,
                self.at.as_millis(),
                day_of(self.at),
                self.cost_usd,
                self.input_tokens,
                self.output_tokens
            ],
        )?;
        Ok(())
    }

    /// Dollars of one day, of one project or of all.
    pub(crate) fn spent_on(
        connection: &Connection,
        day: &str,
        project: Option<&str>,
    ) -> Result<f64, rusqlite::Error> {
        let sql = "SELECT coalesce(sum(cost_usd), 0.0) FROM usage \
                   WHERE date = ?1 AND (?2 IS NULL OR project_id = ?2)";
        connection.query_row(sql, params![day, project], |row| row.get(0))
    }

    pub(crate) fn by_day(
        connection: &Connection,
        since: &str,
        project: Option<&str>,
    ) -> Result<Vec<DayUsage>, rusqlite::Error> {
        let sql = "SELECT date, sum(cost_usd), sum(input_tokens), sum(output_tokens), count(*) \
                   FROM usage WHERE date >= ?1 AND (?2 IS NULL OR project_id = ?2) \
                   GROUP BY date ORDER BY date";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map(params![since, project], |row| {
            Ok(DayUsage {
                date: row.get(0)?,
                cost_usd: row.get(1)?,
                input_tokens: row.get(2)?,
                output_tokens: row.get(3)?,
                runs: row.get(4)?,
            })
        })?;
        rows.collect()
    }

    pub(crate) fn by_model(
        connection: &Connection,
        since: &str,
        project: Option<&str>,
    ) -> Result<Vec<ModelSpending>, rusqlite::Error> {
        let sql = "SELECT model, sum(cost_usd) AS cost, sum(input_tokens), sum(output_tokens), \
                   count(*) FROM usage WHERE date >= ?1 AND (?2 IS NULL OR project_id = ?2) \
                   GROUP BY model ORDER BY cost DESC, model";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map(params![since, project], |row| {
            Ok(ModelSpending {
                model: row.get(0)?,
                cost_usd: row.get(1)?,
                input_tokens: row.get(2)?,
                output_tokens: row.get(3)?,
                runs: row.get(4)?,
            })
        })?;
        rows.collect()
    }

    pub(crate) fn by_project(
        connection: &Connection,
        since: &str,
    ) -> Result<Vec<ProjectSpending>, rusqlite::Error> {
        let sql = "SELECT project_id, sum(cost_usd) AS cost, count(*) FROM usage \
                   WHERE date >= ?1 GROUP BY project_id ORDER BY cost DESC";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([since], |row| {
            Ok(ProjectSpending {
                project_id: row.get(0)?,
                cost_usd: row.get(1)?,
                runs: row.get(2)?,
            })
        })?;
        rows.collect()
    }
}
