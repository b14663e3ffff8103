//! Compares what tests came to with the differences that are known.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

/// Whether each test passed, by name, as the test program printed it.
pub(crate) fn outcomes(printed: &str) -> BTreeMap<String, bool> {
    let lines = printed.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let ended = lines.filter_map(|(name, outcome)| match outcome.trim() {
        "ok" => Some((name.to_owned(), true)),
        "FAILED" => Some((name.to_owned(), false)),
        _ => None,
    });
    ended.collect()
}

/// The names of tests that must fail: one on a line, with the reason behind a `#`.
pub(crate) fn read_differences(text: &str) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let (name, reason) = line.split_once('#').unwrap_or((line, ""));
        let name = name.trim();
        if name.is_empty() {
            continue;
        }
        if reason.trim().is_empty() {
            bail!("line {}: {name} has no reason; write it behind a #", number + 1);
        }
        if !names.insert(name.to_owned()) {
            bail!("line {}: {name} is listed twice", number + 1);
        }
    }
    Ok(names)
}

/// What was not expected, a line each.
pub(crate) fn judge(
    outcomes: &BTreeMap<String, bool>,
    differences: &BTreeSet<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, passed) in outcomes {
        match (passed, differences.contains(name)) {
            (true, true) => problems.push(format!("{name} passes, but is listed; remove it there")),
            (false, false) => problems.push(format!("{name} fails, and is not listed")),
            (true, false) | (false, true) => {}
        }
    }
    let gone = differences.iter().filter(|name| !outcomes.contains_key(*name));
    problems.extend(gone.map(|name| format!("{name} is listed, but did not run; remove it there")));
    problems
}
