//! What the crate offers is written down, so that no change of it goes unnoticed.

use std::path::Path;

/// Every public line of the sources, by file. `UPDATE_GOLDEN=1` writes it down anew.
#[test]
fn the_public_interface_is_the_one_that_is_written_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = String::new();
    let files = walkdir::WalkDir::new(root.join("src")).sort_by_file_name();
    for file in files.into_iter().map(Result::unwrap).filter(|file| file.file_type().is_file()) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let items = public_items(&text);
        if !items.is_empty() {
            let name = file.path().strip_prefix(root).unwrap().display();
            found += &format!("{name}\n{}\n\n", items.join("\n"));
        }
    }
    let golden = root.join("public-api.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &found).unwrap();
    }
    let written = std::fs::read_to_string(&golden).unwrap_or_default();
    for (number, (now, then)) in found.lines().zip(written.lines()).enumerate() {
        assert_eq!(now, then, "line {} of public-api.txt; UPDATE_GOLDEN=1 accepts it", number + 1);
    }
    assert_eq!(found.len(), written.len(), "UPDATE_GOLDEN=1 accepts what was added or removed");
}

/// The beginnings of public items, up to their bodies, one line each.
fn public_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if !line.starts_with("pub ") {
            continue;
        }
        let mut item = line.to_owned();
        while !item.ends_with(['{', ';', '}', ',']) {
            let Some(next) = lines.next() else { break };
            item = format!("{item} {}", next.trim());
        }
        while item.starts_with("pub use") && !item.ends_with(';')
            || item.ends_with(',') && item.contains("fn ")
        {
            let Some(next) = lines.next() else { break };
            item = format!("{item} {}", next.trim());
        }
        items.push(format!("    {}", item.trim_end_matches([' ', '{'])));
    }
    items
}
