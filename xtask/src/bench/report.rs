//! The table of results and the verdict on the budgets.

use crate::bench::measure::Round;
use crate::bench::options::Purpose;
use crate::bench::statistics::{median, p90};

/// On a busy machine only gross slowness is a finding. Sizes do not depend on the load.
const SMOKE_FACTOR: f64 = 3.0;

/// What is measured, with its budget.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    name: &'static str,
    unit: &'static str,
    budget: f64,
    depends_on_load: bool,
    sample: fn(&Round) -> Option<f64>,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "spawn → initialize response",
        unit: "ms",
        budget: 15.0,
        depends_on_load: true,
        sample: |round| Some(round.initialize),
    },
    Quantity {
        name: "spawn → result, one text turn",
        unit: "ms",
        budget: 30.0,
        depends_on_load: true,
        sample: |round| Some(round.text_turn),
    },
    Quantity {
        name: "added per tool turn",
        unit: "ms",
        budget: 2.0,
        depends_on_load: true,
        sample: |round| Some(round.tool_turn),
    },
    Quantity {
        name: "resident memory, one idle session",
        unit: "MB",
        budget: 15.0,
        depends_on_load: false,
        sample: |round| round.memory,
    },
];

const BINARY_BUDGET: f64 = 30.0;
const NAME_WIDTH: usize = 40;

/// The measurements of one contender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    /// All rounds.
    pub(crate) rounds: Vec<Round>,
    /// Megabytes of the executable.
    pub(crate) binary: f64,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    name: &'static str,
    unit: &'static str,
    budget: f64,
    ours: Vec<f64>,
    official: Vec<f64>,
}

impl Row {
    /// Whether our median is over the budget.
    pub(crate) fn is_over_budget(&self) -> bool {
        median(&self.ours) > self.budget
    }
}

/// The rows of the report. Quantities that could not be measured have no row.
pub(crate) fn rows(purpose: Purpose, ours: &Results, official: Option<&Results>) -> Vec<Row> {
    let samples = |results: &Results, quantity: &Quantity| -> Vec<f64> {
        results.rounds.iter().filter_map(quantity.sample).collect()
    };
    let measured = QUANTITIES.iter().map(|quantity| {
        let relaxed = purpose == Purpose::Smoke && quantity.depends_on_load;
        Row {
            name: quantity.name,
            unit: quantity.unit,
            budget: quantity.budget * if relaxed { SMOKE_FACTOR } else { 1.0 },
            ours: samples(ours, quantity),
            official: official.map(|official| samples(official, quantity)).unwrap_or_default(),
        }
    });
    let binary = Row {
        name: "binary",
        unit: "MB",
        budget: BINARY_BUDGET,
        ours: vec![ours.binary],
        official: official.map(|official| official.binary).into_iter().collect(),
    };
    measured.chain([binary]).filter(|row| !row.ours.is_empty()).collect()
}

/// The table as text. Columns of the official CLI are there only when it was measured.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = " ".repeat(NAME_WIDTH);
    let ours = ["median", "p90", "budget", ""];
    let official = ["official", "p90", "ratio"];
    let compared = rows.iter().any(|row| !row.official.is_empty());
    let titles = ours.iter().chain(official.iter().filter(|_| compared));
    titles.for_each(|title| push(&mut text, title));
    for row in rows {
        push_line(&mut text, row);
    }
    text
}

fn push_line(text: &mut String, row: &Row) {
    let name = format!("{} ({})", row.name, row.unit);
    text.push_str(&format!("\n{name:<NAME_WIDTH$}"));
    let verdict = if row.is_over_budget() { "OVER" } else { "ok" };
    push(text, &number(median(&row.ours)));
    push(text, &number(p90(&row.ours)));
    push(text, &number(row.budget));
    push(text, verdict);
    if !row.official.is_empty() {
        push(text, &number(median(&row.official)));
        push(text, &number(p90(&row.official)));
        push(text, &format!("{:.1}×", median(&row.official) / median(&row.ours)));
    }
}

fn push(text: &mut String, cell: &str) {
    text.push_str(&format!("{cell:>10}"));
}

fn number(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}
