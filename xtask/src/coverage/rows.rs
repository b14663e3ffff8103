//! Reads the rows: an id, what it is, and the tests that show it, separated by tabs.

use anyhow::{Result, bail};

/// Rows under one heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: String,
    /// Whether no row may lack its test.
    pub(crate) is_complete: bool,
    /// What the names of tests begin with that are named after their rows.
    pub(crate) prefix: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// One thing that should be there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) tests: Vec<String>,
}

impl Row {
    /// The name of the test that is named after it. A row whose id is no name from the wire has
    /// none.
    pub(crate) fn named_after(&self, prefix: &str) -> Option<String> {
        let name = self.id.strip_prefix('`')?.strip_suffix('`')?;
        let mut snake = prefix.to_owned();
        for character in name.chars() {
            match character {
                'A'..='Z' => {
                    if !snake.ends_with('_') {
                        snake.push('_');
                    }
                    snake.push(character.to_ascii_lowercase());
                }
                'a'..='z' | '0'..='9' => snake.push(character),
                _ if snake.ends_with('_') => {}
                _ => snake.push('_'),
            }
        }
        Some(snake.trim_end_matches('_').to_owned())
    }
}

/// Reads the file. `# ` begins a section, `! ` one in which no row may lack its test; behind the
/// heading of the latter may stand, after a tab, what the tests' names begin with.
pub(crate) fn read(text: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let heading = line.strip_prefix("# ").map(|it| (it, false));
        if let Some((heading, is_complete)) =
            heading.or_else(|| line.strip_prefix("! ").map(|it| (it, true)))
        {
            let (heading, prefix) = match heading.split_once('\t') {
                Some((heading, prefix)) => (heading, Some(prefix.to_owned())),
                None => (heading, None),
            };
            let heading = heading.to_owned();
            sections.push(Section { heading, is_complete, prefix, rows: Vec::new() });
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
