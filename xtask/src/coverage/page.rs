//! Writes the page.

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

/// The page, and the rows that lack a test although their section is complete.
pub(crate) fn write(sections: &[Section], places: &Places) -> (String, Vec<String>) {
    let mut page = HEAD.to_owned();
    let mut lacking = Vec::new();
    for section in sections {
        let shown = section.rows.iter().filter(|row| !links(row, places).is_empty()).count();
        let total = section.rows.len();
        page += &format!("\n## {}\n\n{shown} of {total}.\n\n", section.heading);
        page += "| | what | shown by |\n|---|---|---|\n";
        for row in &section.rows {
            let links = links(row, places);
            if links.is_empty() && section.is_complete {
                lacking.push(row.id.clone());
            }
            // Writing to a String cannot fail.
            let _ = writeln!(page, "| {} | {} | {} |", row.id, row.what, links.join(", "));
        }
    }
    (page, lacking)
}

fn links(row: &Row, places: &Places) -> Vec<String> {
    let found = row.tests.iter().filter_map(|test| Some((test, places.get(test)?)));
    found.map(|(test, path)| format!("[{test}](../{path})")).collect()
}
