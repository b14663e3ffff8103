//! Reads the rows: an id, what it is, and the tests that show it, separated by tabs.

use anyhow::{Result, bail};

/// Rows under one heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) is_complete: bool,
    pub(crate) rows: Vec<Row>,
}

/// One thing that should be there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) tests: Vec<String>,
}

/// Reads the file. `# ` begins a section, `! ` one in which no row may lack its test.
pub(crate) fn read(text: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let heading = line.strip_prefix("# ").map(|it| (it, false));
        if let Some((heading, is_complete)) =
            heading.or_else(|| line.strip_prefix("! ").map(|it| (it, true)))
        {
            let heading = heading.to_owned();
            sections.push(Section { heading, is_complete, rows: Vec::new() });
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let (Some(section), [id, what, tests @ ..]) = (sections.last_mut(), fields.as_slice())
        else {
            bail!("line {}: expected id, what and tests, separated by tabs", number + 1);
        };
        let tests = tests.iter().flat_map(|tests| tests.split(' ')).filter(|it| !it.is_empty());
        section.rows.push(Row {
            id: (*id).to_owned(),
            what: (*what).to_owned(),
            tests: tests.map(str::to_owned).collect(),
        });
    }
    Ok(sections)
}
