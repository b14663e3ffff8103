//! Memory that comes when the agent looks somewhere.

use crate::grove::Grove;

#[test]
fn a_subfolder_speaks_once_when_it_is_looked_at() {
    let grove = Grove::new();
    grove.put("repo/app/CLAUDE.md", "Root.");
    grove.put("repo/app/src/CLAUDE.md", "Sources.").put("repo/app/src/net/CLAUDE.md", "Net.");
    grove.put("repo/app/src/net/tcp.rs", "");
    let mut surroundings = grove.surroundings();
    assert!(surroundings.memory_for(&grove.path("repo/app/main.rs")).is_empty());
    let texts = surroundings.memory_for(&grove.path("repo/app/src/net/tcp.rs"));
    assert_eq!(texts.len(), 2);
    assert!(texts[0].ends_with("Sources.") && texts[1].ends_with("Net."), "{texts:?}");
    assert!(surroundings.memory_for(&grove.path("repo/app/src/net/tcp.rs")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/app/src/lib.rs")).is_empty());
}

#[test]
fn rules_for_some_files_come_with_the_first_of_them() {
    let grove = Grove::new();
    grove.put("repo/.claude/rules/api.md", "---\npaths: [\"app/src/**/*.{ts,rs}\"]\n---\nApi.");
    grove.put("user/rules/docs.md", "---\npaths: \"*.md, docs/**\"\n---\nDocs.");
    assert!(grove.files().is_empty(), "they are not due at the start");
    let mut surroundings = grove.surroundings();
    assert!(surroundings.memory_for(&grove.path("repo/app/src/a.py")).is_empty());
    let texts = surroundings.memory_for(&grove.path("repo/app/src/deep/a.rs"));
    assert!(texts.len() == 1 && texts[0].ends_with("Api."), "{texts:?}");
    assert!(surroundings.memory_for(&grove.path("repo/app/src/b.ts")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/app/x/y.md")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/app/y.md"))[0].ends_with("Docs."));
}

#[test]
fn nothing_outside_of_the_working_directory_speaks() {
    let grove = Grove::new();
    grove.put("home/CLAUDE.md", "Home.").put("repo/other/CLAUDE.md", "Other.");
    grove.link("home", "repo/app/away");
    let mut surroundings = grove.surroundings();
    assert!(surroundings.memory_for(&grove.path("home/x")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/other/x")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/app/away/x")).is_empty());
    assert!(surroundings.memory_for(&grove.path("repo/app/../../home/x")).is_empty());
}

#[test]
fn what_a_subfolder_leaves_out_is_told() {
    let grove = Grove::new();
    grove.put("home/key", "PRIVATE").put("repo/app/src/CLAUDE.md", "@~/key");
    let mut surroundings = grove.surroundings();
    let texts = surroundings.memory_for(&grove.path("repo/app/src/a"));
    assert!(texts.len() == 1 && !texts[0].contains("PRIVATE"));
    assert_eq!(surroundings.take_problems().len(), 1);
    assert!(surroundings.take_problems().is_empty());
}
