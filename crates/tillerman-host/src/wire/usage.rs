//! What was spent, by day, model and project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// By day, oldest first; days without runs are there too.
    pub days: Vec<DayUsage>,
    /// By model, dearest first.
    pub by_model: Vec<ModelSpending>,
    /// By project, dearest first.
    pub by_project: Vec<ProjectSpending>,
    /// Dollars spent today.
    pub today_cost_usd: f64,
    /// Dollars that may be spent in a day.
    pub daily_limit_usd: Option<f64>,
}

/// What was spent on one day (UTC).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DayUsage {
    /// The day, such as `2026-11-15`.
    pub date: String,
    /// Dollars.
    pub cost_usd: f64,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Rounds.
    pub runs: u64,
}

/// What was spent on one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSpending {
    /// The model.
    pub model: String,
    /// Dollars.
    pub cost_usd: f64,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Rounds.
    pub runs: u64,
}

/// What was spent in one project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectSpending {
    /// The project; nothing stands for conversations without one.
    pub project_id: Option<String>,
    /// Dollars.
    pub cost_usd: f64,
    /// Rounds.
    pub runs: u64,
}
