//! Writes the page, and says which rows do not keep what is promised.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::coverage::rows::{Row, Section};

const HEAD: &str = "\
# What is there

Made by `cargo xtask coverage` from `coverage.tsv`; change that file, not this one.
Each row names something that the documents behind Tillerman ask for, and links the tests that show it.
A row without a test is not there, or not shown yet.
";

/// Where each test is: its file, by name.
pub(crate) type Places = BTreeMap<String, String>;

/// The page.
#[derive(Debug)]
pub(crate) struct Page {
    /// What it says.
    pub(crate) text: String,
    /// What is wrong with the rows, a line each.
    pub(crate) problems: Vec<String>,
}

/// Writes the page.
pub(crate) fn write(sections: &[Section], places: &Places) -> Page {
    let mut text = HEAD.to_owned();
    let mut problems = Vec::new();
    for section in sections {
        let shown = section.rows.iter().filter(|row| !links(row, places).is_empty()).count();
        let total = section.rows.len();
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n\n{shown} of {total}.\n\n", section.heading);
        text += "| | what | shown by |\n|---|---|---|\n";
        for row in &section.rows {
            problems.extend(check(section, row, places));
            let links = links(row, places).join(", ");
            let _ = writeln!(text, "| {} | {} | {links} |", row.id, row.what);
        }
    }
    Page { text, problems }
}

fn check(section: &Section, row: &Row, places: &Places) -> Vec<String> {
    let id = &row.id;
    let lost = row.tests.iter().filter(|test| !places.contains_key(*test));
    let mut problems: Vec<String> = lost
        .map(|test| format!("{id}: there is no test {test}; name the one that shows it"))
        .collect();
    if !section.is_complete {
        return problems;
    }
    if row.tests.is_empty() {
        problems.push(format!("{id}: no test, and no row of {} may lack one", section.heading));
    }
    if let Some(wanted) = section.prefix.as_deref().and_then(|prefix| row.named_after(prefix))
        && !row.tests.contains(&wanted)
    {
        problems.push(format!("{id}: none of its tests is named after it: {wanted}"));
    }
    problems
}

fn links(row: &Row, places: &Places) -> Vec<String> {
    let found = row.tests.iter().filter_map(|test| Some((test, places.get(test)?)));
    found.map(|(test, path)| format!("[{test}](../{path})")).collect()
}
