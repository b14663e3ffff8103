//! What was spent, and who did what, over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tillerman_protocol::Moment;

use crate::api::endpoint::Query;
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::store::{AuditNote, UsageRow, day_of};
use crate::wire::{DayUsage, Usage};

const DAY: i64 = 24 * 3_600 * 1_000;
const MOST_DAYS: i64 = 366;
const MOST_NOTES: usize = 1_000;

/// Which days and which project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct UsageQuery {
    /// How many days up to today.
    days: Option<i64>,
    /// Only one project.
    project_id: Option<String>,
}

pub(crate) async fn usage(
    State(state): State<Arc<ApiState>>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<Usage>, ApiError> {
    let count = query.days.unwrap_or(30).clamp(1, MOST_DAYS);
    let now = state.shared.now().as_millis();
    let dates: Vec<String> =
        (0..count).rev().map(|back| day_of(Moment::from_millis(now - back * DAY))).collect();
    let since = dates.first().cloned().unwrap_or_default();
    let today = dates.last().cloned().unwrap_or_default();
    let daily_limit_usd = state.shared.settings.daily_budget_usd;
    let usage = state.shared.store.read(move |db| {
        let project = query.project_id.as_deref();
        let used = UsageRow::by_day(db, &since, project)?;
        let day = |date: String| {
            let found = used.iter().find(|day| day.date == date).cloned();
            found.unwrap_or(DayUsage { date, ..DayUsage::default() })
        };
        Ok(Usage {
            days: dates.into_iter().map(day).collect(),
            by_model: UsageRow::by_model(db, &since, project)?,
            by_project: UsageRow::by_project(db, &since)?,
            today_cost_usd: UsageRow::spent_on(db, &today, project)?,
            daily_limit_usd,
        })
    });
    Ok(Json(usage.await?))
}

/// How many notes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct AuditQuery {
    limit: Option<usize>,
}

/// Who did what.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Audit {
    entries: Vec<AuditNote>,
}

pub(crate) async fn audit(
    State(state): State<Arc<ApiState>>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Audit>, ApiError> {
    let limit = query.limit.unwrap_or(100).clamp(1, MOST_NOTES);
    let entries = state.shared.store.read(move |db| AuditNote::list(db, limit)).await?;
    Ok(Json(Audit { entries }))
}
