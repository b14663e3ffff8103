//! What a doctor finds, row by row: a state, what it means, and what to do.

use serde_json::{Value, json};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    area: &'static str,
    name: String,
    state: State,
    meaning: String,
    advice: Option<String>,
}

/// Everything that was looked at.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Row {
    pub(crate) fn ok(area: &'static str, name: &str, meaning: impl Into<String>) -> Self {
        let (name, meaning) = (name.to_owned(), meaning.into());
        Self { area, name, state: State::Ok, meaning, advice: None }
    }

    pub(crate) fn note(
        area: &'static str,
        name: &str,
        meaning: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { state: State::Note, advice: Some(advice.into()), ..Self::ok(area, name, meaning) }
    }

    pub(crate) fn bad(
        area: &'static str,
        name: &str,
        meaning: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { state: State::Bad, ..Self::note(area, name, meaning, advice) }
    }

    /// A line of somebody else's report: a name, some blanks, what it means.
    pub(crate) fn of_line(area: &'static str, line: &str) -> Self {
        let line = line.trim();
        let (name, meaning) = line.split_once("  ").unwrap_or(("", line));
        let is_less = ["not enforced", "cannot", "missing"].iter().any(|it| meaning.contains(it));
        let state = if is_less { State::Note } else { State::Ok };
        Self { state, ..Self::ok(area, name, meaning.trim()) }
    }
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Whether everything that was asked for can be had.
    pub(crate) fn is_well(&self) -> bool {
        self.rows.iter().all(|row| row.state != State::Bad)
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("Tillerman {}\n", env!("CARGO_PKG_VERSION"));
        let mut area = "";
        for row in &self.rows {
            if row.area != area {
                area = row.area;
                text.push_str(&format!("\n{area}\n"));
            }
            let state = row.state.name();
            text.push_str(&format!("  {state:<5} {:<17} {}\n", row.name, row.meaning));
            if let Some(advice) = &row.advice {
                text.push_str(&format!("  {:<23} → {advice}\n", ""));
            }
        }
        text
    }

    /// The report for machines.
    pub(crate) fn json(&self) -> String {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "area": row.area,
                    "name": row.name,
                    "state": row.state.name(),
                    "meaning": row.meaning,
                    "advice": row.advice,
                })
            })
            .collect();
        let version = env!("CARGO_PKG_VERSION");
        format!("{}\n", json!({"version": version, "well": self.is_well(), "rows": rows}))
    }
}
