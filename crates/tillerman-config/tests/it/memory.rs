//! Memory files: which are read, in which order, and which never.

use tillerman_config::Source;
use tillerman_config::extensions::MemoryKind;

use crate::grove::{Grove, only};

#[test]
fn without_files_there_is_no_memory() {
    let memory = Grove::new().memory();
    assert_eq!((memory.text().as_str(), memory.problems.len()), ("", 0));
}

#[test]
fn memory_goes_from_the_broadest_to_the_nearest() {
    let grove = Grove::new();
    for name in [
        "managed/CLAUDE.md",
        "user/CLAUDE.md",
        "user/rules/taste.md",
        "CLAUDE.md",
        "repo/CLAUDE.md",
        "repo/CLAUDE.local.md",
        "repo/app/.claude/CLAUDE.md",
        "repo/app/CLAUDE.local.md",
        "repo/.claude/rules/deep/one.md",
        "repo/app/.claude/rules/two.md",
    ] {
        grove.put(name, &format!("I am {name}"));
    }
    let expected = [
        "managed/CLAUDE.md",
        "user/CLAUDE.md",
        "user/rules/taste.md",
        "CLAUDE.md",
        "repo/CLAUDE.md",
        "repo/CLAUDE.local.md",
        "repo/app/.claude/CLAUDE.md",
        "repo/app/CLAUDE.local.md",
        "repo/.claude/rules/deep/one.md",
        "repo/app/.claude/rules/two.md",
    ];
    assert_eq!(grove.files(), expected);
    let memory = grove.memory();
    assert_eq!(memory.problems, []);
    let kinds: Vec<MemoryKind> = memory.files.iter().map(|file| file.kind).collect();
    assert_eq!(kinds[0], MemoryKind::Managed);
    assert_eq!(kinds[1..3], [MemoryKind::User, MemoryKind::User]);
    assert_eq!(kinds[5], MemoryKind::Local);
    let text = memory.text();
    assert!(text.contains("I am repo/CLAUDE.md") && text.contains("checked in with it"), "{text}");
}

#[test]
fn sources_that_are_off_bring_nothing() {
    let mut grove = Grove::new();
    for name in ["user/CLAUDE.md", "repo/CLAUDE.md", "repo/CLAUDE.local.md", "managed/CLAUDE.md"] {
        grove.put(name, "x");
    }
    grove.places.sources = vec![Source::Local];
    assert_eq!(grove.files(), ["managed/CLAUDE.md", "repo/CLAUDE.local.md"]);
    grove.places.sources = vec![Source::Project];
    assert_eq!(grove.files(), ["managed/CLAUDE.md", "repo/CLAUDE.md"]);
    grove.places.sources = Vec::new();
    assert_eq!(grove.files(), ["managed/CLAUDE.md"]);
}

#[test]
fn excluded_files_stay_out_but_not_those_of_the_administrator() {
    let mut grove = Grove::new();
    for name in ["repo/CLAUDE.md", "repo/app/CLAUDE.md", "managed/CLAUDE.md"] {
        grove.put(name, "x");
    }
    grove.places.memory_excludes = vec!["**/repo/CLAUDE.md".to_owned(), "**/managed/*".to_owned()];
    assert_eq!(grove.files(), ["managed/CLAUDE.md", "repo/app/CLAUDE.md"]);
    grove.places.memory_excludes = vec!["[".to_owned()];
    assert!(only(&grove.memory().problems).contains("claudeMdExcludes"));
}

#[test]
fn notes_to_people_are_taken_out_except_in_code() {
    let grove = Grove::new();
    let text = "One\n<!-- a note\nof two lines -->\nTwo\n```\n<!-- code -->\n```\n<!-- open";
    grove.put("repo/CLAUDE.md", text);
    let memory = grove.memory();
    assert_eq!(memory.files[0].text, "One\nTwo\n```\n<!-- code -->\n```\n<!-- open");
}

#[test]
fn a_link_to_a_key_is_no_memory() {
    let grove = Grove::new();
    grove.put("home/.ssh/id_rsa", "PRIVATE KEY");
    grove.link("home/.ssh/id_rsa", "repo/CLAUDE.md");
    grove.link("home/.ssh/id_rsa", "repo/.claude/rules/key.md");
    let memory = grove.memory();
    assert!(memory.files.is_empty());
    assert_eq!(memory.problems.len(), 2);
    assert!(!memory.text().contains("PRIVATE"));
}

#[test]
fn memory_has_a_size() {
    let grove = Grove::new();
    grove.put("user/CLAUDE.md", "small");
    grove.put("repo/CLAUDE.md", &"x".repeat(600 << 10));
    grove.put("repo/app/CLAUDE.md", "also small");
    assert_eq!(grove.files(), ["user/CLAUDE.md", "repo/app/CLAUDE.md"]);
    assert!(only(&grove.memory().problems).contains("512 KiB"));
}

#[test]
fn a_file_that_is_found_twice_is_read_once() {
    let mut grove = Grove::new();
    grove.put("repo/app/.claude/CLAUDE.md", "mine");
    grove.places.config_dir = grove.path("repo/app/.claude");
    assert_eq!(grove.files(), ["repo/app/.claude/CLAUDE.md"]);
    assert_eq!(grove.memory().files[0].kind, MemoryKind::User);
}
