//! Tests that documents name as proof are there.

use crate::tidy::tree::{File, Finding, Tree};

/// Tables whose last column names tests as `crate::file::test`.
const PLACED: &str = "docs/host-cases.md";
/// A table whose last column names tests by crate and function.
const NAMED: &str = "docs/faults.md";
/// How the last column begins where there is no test.
const EXCUSES: [&str; 3] = ["not built yet", "does not apply", "documented limit"];

/// Finds names of tests that do not exist, and rows without proof or excuse.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let placed = rows(tree, PLACED).flat_map(|row| {
        let is_excused = EXCUSES.iter().any(|excuse| row.proof.starts_with(excuse));
        let lacks = (row.names().next().is_none() && !is_excused)
            .then(|| row.finding("names no test, and no reason why there is none".to_owned()));
        let missing = row.names().filter(|name| !is_placed(tree, name));
        let missing = missing.map(|name| row.finding(format!("names `{name}`, which is no test")));
        missing.chain(lacks).collect::<Vec<_>>()
    });
    let named = rows(tree, NAMED).flat_map(|row| {
        let function = |name: &'_ str| name.rsplit("::").next().unwrap_or_default().to_owned();
        let missing = row.names().filter(|name| !is_anywhere(tree, &function(name)));
        let missing = missing.map(|name| row.finding(format!("names `{name}`, which is no test")));
        missing.collect::<Vec<_>>()
    });
    placed.chain(named).collect()
}

/// A row of a table.
struct Row<'a> {
    path: &'a str,
    line: usize,
    proof: &'a str,
}

impl<'a> Row<'a> {
    /// What stands between backticks in the last column.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.proof.split('`').skip(1).step_by(2)
    }

    fn finding(&self, message: String) -> Finding {
        Finding::new(self.path, self.line, message)
    }
}

/// The rows of all tables in a document, without their heads.
fn rows<'a>(tree: &'a Tree, path: &'a str) -> impl Iterator<Item = Row<'a>> {
    let lines = tree.file(path).into_iter().flat_map(File::lines);
    let cells = lines.filter_map(|(line, text)| {
        let cells = text.trim().strip_prefix('|')?.strip_suffix('|')?;
        let (first, rest) = cells.split_once('|')?;
        let proof = rest.rsplit('|').next().unwrap_or_default().trim();
        let is_head =
            first.trim().chars().all(|letter| letter == '-') || matches!(first.trim(), "#" | "id");
        (!is_head).then_some((line, proof))
    });
    cells.map(move |(line, proof)| Row { path, line, proof })
}

/// Whether `crate::file::test` is a test of that file.
fn is_placed(tree: &Tree, name: &str) -> bool {
    let mut parts = name.splitn(3, "::");
    let (Some(home), Some(file), Some(test)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    if home == "web" {
        let paths = [format!("web/test/{file}.test.ts"), format!("web/e2e/{file}.spec.ts")];
        let files = paths.iter().filter_map(|path| tree.file(path));
        return files.into_iter().any(|file| file.text.contains(&format!("test(\"{test}\"")));
    }
    if (home, file) == ("engine", "golden") {
        return is_golden(tree, test);
    }
    let folder = match home {
        "tillerman" => "crates/tillerman/".to_owned(),
        home => format!("crates/tillerman-{home}/"),
    };
    let (module, unit) = (format!("/{file}.rs"), format!("/{file}/tests.rs"));
    tree.rust()
        .filter(|it| it.path.starts_with(&folder))
        .filter(|it| it.path.ends_with(&module) || it.path.ends_with(&unit))
        .any(|it| has_test(it, test))
}

fn is_anywhere(tree: &Tree, test: &str) -> bool {
    is_golden(tree, test) || tree.rust().any(|file| has_test(file, test))
}

fn is_golden(tree: &Tree, test: &str) -> bool {
    tree.file(&format!("crates/tillerman-engine/testdata/{test}.txt")).is_some()
}

/// Whether a function of this name stands below a test attribute.
fn has_test(file: &File, test: &str) -> bool {
    let declaration = format!("fn {test}(");
    let mut is_marked = false;
    for (_, line) in file.lines() {
        let line = line.trim();
        if line.starts_with("#[") || line.starts_with("//") {
            is_marked |= line.contains("test");
        } else {
            if is_marked && line.contains(&declaration) {
                return true;
            }
            is_marked = false;
        }
    }
    false
}
