//! What the published crates offer is written down, so that no change of it goes unnoticed.

use std::path::Path;

use crate::public_items::{public_items, public_types};

#[test]
fn the_public_interface_of_the_sdk_is_the_one_that_is_written_down() {
    check("tillerman");
}

#[test]
fn the_public_interface_of_the_macros_is_the_one_that_is_written_down() {
    check("tillerman-macros");
}

#[test]
fn the_public_interface_of_the_testkit_is_the_one_that_is_written_down() {
    check("tillerman-testkit");
}

#[test]
fn what_is_removed_and_what_is_added_is_told_apart() {
    let told = differences("a.rs\n    pub fn a()\n    pub fn b()\n", "a.rs\n    pub fn b()\n");
    let (removed, added) = told;
    assert_eq!((removed, added), (vec!["a.rs: pub fn a()".to_owned()], Vec::new()));
    let (removed, added) = differences("a.rs\n    x: u8\n", "a.rs\n    x: u16\n    y: u8\n");
    assert_eq!((removed.len(), added.len()), (1, 2));
}

#[test]
fn items_that_others_can_see_are_found() {
    let text = r#"
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum Kind { A, B { of: String } }
        pub trait Port { fn name(&self) -> u8; fn extra(&self) -> u8 { 1 } }
        pub struct Handle { pub id: u64, secret: u8 }
        impl Handle { pub fn go<F: Fn()>(&self, f: F) -> &str { "" } fn hidden(&self) {} }
        impl Clone for Handle { fn clone(&self) -> Self { todo() } }
        impl Clone for Hidden { fn clone(&self) -> Self { todo() } }
        pub(crate) struct Hidden;
        pub use other::Thing;
        macro_rules! answer { ($name:ident) => { pub struct $name(u8); impl $name {
            /// Passes.
            pub fn pass(x: u8) -> Self { Self(x) } pub(crate) fn hidden() {} } }; }
        answer! {
            /// Says yes.
            Yes
        }
        impl Yes { pub fn loudly(&self) {} }
    "#;
    let file = syn::parse_file(text).unwrap();
    let wanted = [
        "#[derive(Clone, Debug)] #[non_exhaustive] pub enum Kind",
        "    A",
        "    B { of: String }",
        "pub trait Port",
        "    fn name(&self) -> u8;",
        "    fn extra(&self) -> u8 { … }",
        "pub struct Handle",
        "    pub id: u64",
        "impl Handle",
        "    pub fn go<F: Fn()>(&self, f: F) -> &str",
        "impl Clone for Handle",
        "pub use other::Thing;",
        "    made: pub struct $name(u8)",
        "    made: pub fn pass(x: u8) -> Self",
        "answer! { Yes }",
        "impl Yes",
        "    pub fn loudly(&self)",
    ];
    assert_eq!(public_items(&file, &public_types(&file)), wanted);
}

/// Compares a crate with what is written down of it. `UPDATE_GOLDEN=1` writes it down anew.
fn check(name: &str) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = crates.join(name);
    let files = walkdir::WalkDir::new(root.join("src")).sort_by_file_name();
    let files = files.into_iter().map(Result::unwrap).filter(|file| file.file_type().is_file());
    let parsed: Vec<(String, syn::File)> = files
        .filter(|file| !file.path().components().any(|part| part.as_os_str() == "bin"))
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).unwrap();
            let name = file.path().strip_prefix(&root).unwrap().display().to_string();
            (name, syn::parse_file(&text).unwrap())
        })
        .collect();
    let types = parsed.iter().flat_map(|(_, file)| public_types(file)).collect();
    let mut found = String::new();
    for (name, file) in &parsed {
        let items = public_items(file, &types);
        if !items.is_empty() {
            found += &format!("{name}\n    {}\n\n", items.join("\n    "));
        }
    }
    let golden = root.join("public-api.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &found).unwrap();
    }
    let written = std::fs::read_to_string(&golden).unwrap_or_default();
    let (removed, added) = differences(&written, &found);
    assert!(
        removed.is_empty() && added.is_empty(),
        "the public interface of {name} is not the one in {}\n\n\
         removed or changed:\n{}\nadded:\n{}\n\
         What was removed or changed breaks programs: keep it beside the new one and deprecate it, \
         or say it under Breaking in CHANGELOG.md and raise the version (the minor one before 1.0, \
         the major one from then on).\n\
         What was added goes under Added. Then accept it:\n    \
         UPDATE_GOLDEN=1 cargo test -p tillerman --test it public_interface\n",
        golden.display(),
        removed.join("\n"),
        added.join("\n"),
    );
    assert_eq!(written, found, "the order changed: UPDATE_GOLDEN=1 accepts it");
}

/// What is only in the first text and what is only in the second, each line with its file.
fn differences(written: &str, found: &str) -> (Vec<String>, Vec<String>) {
    let (then, now) = (placed(written), placed(found));
    (without(then.clone(), &now), without(now, &then))
}

fn placed(text: &str) -> Vec<String> {
    let mut file = "";
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("    ") {
            Some(item) => lines.push(format!("{file}: {item}")),
            None => file = line,
        }
    }
    lines
}

/// Lines without those of another text, as often as it has them.
fn without(lines: Vec<String>, others: &[String]) -> Vec<String> {
    let mut others: Vec<&String> = others.iter().collect();
    let is_left = |line: &String| match others.iter().position(|other| *other == line) {
        Some(place) => {
            others.swap_remove(place);
            false
        }
        None => true,
    };
    lines.into_iter().filter(is_left).collect()
}
