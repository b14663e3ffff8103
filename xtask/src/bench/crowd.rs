//! Many sessions in one process: how memory and time grow with their number.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bench::arena::{Arena, CROWD_TURNS};
use crate::bench::measure::megabytes;
use crate::workspace::{self, cargo, release_binary};

const COUNTS: [u32; 5] = [1, 10, 100, 1_000, 10_000];
/// The number of sessions that has a budget, and the budget in megabytes.
const BUDGET: (u32, f64) = (1_000, 400.0);

/// Runs crowds of growing size, prints the curve and fails when a session or the budget does.
pub(crate) fn run(arena: &Arena) -> Result<()> {
    let example =
        ["build", "--release", "--package", "tillerman-cli", "--example", "many_sessions"];
    workspace::run(&mut cargo(&example)).context("the example was not built")?;
    println!("\n{CROWD_TURNS} tool turns in each of many sessions of one process");
    println!("{:>10} {:>12} {:>14} {:>16}", "sessions", "peak MB", "seconds", "ms per turn");
    for count in COUNTS {
        let report = crowd(arena, count)?;
        let (peak, seconds) = (number(&report, "peak_bytes")?, number(&report, "seconds")?);
        let peak = megabytes(peak as u64);
        let turns = f64::from(count) * f64::from(CROWD_TURNS + 1);
        println!("{count:>10} {peak:>12.1} {seconds:>14.2} {:>16.3}", seconds * 1000.0 / turns);
        if report["succeeded"] != count {
            bail!("not all of {count} sessions succeeded: {}", report["failures"]);
        }
        if count == BUDGET.0 && peak > BUDGET.1 {
            bail!("{count} sessions took {peak:.1} MB, more than {} MB", BUDGET.1);
        }
    }
    Ok(())
}

fn crowd(arena: &Arena, count: u32) -> Result<Value> {
    let folder = tempfile::TempDir::new().context("cannot make a temporary folder")?;
    let output = Command::new(release_binary("examples/many_sessions"))
        .args(["--url", arena.crowd_url(), "--sessions", &count.to_string(), "--folder"])
        .arg(folder.path())
        .output()
        .context("cannot start the example")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{count} sessions ended with {}: {said}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the example printed no report")
}

fn number(report: &Value, name: &str) -> Result<f64> {
    report[name].as_f64().with_context(|| format!("the report has no {name}"))
}
