//! Imports of memory files: what they bring in, and what they must never reach.

use crate::grove::{Grove, only};

#[test]
fn imports_follow_the_file_that_names_them() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "See @docs/style.md and @./more.md.\nMail me@x.org, not @nobody.");
    grove.put("repo/docs/style.md", "Style. @deep/base.md");
    grove.put("repo/docs/deep/base.md", "Base.").put("repo/more.md", "More.");
    assert_eq!(
        grove.files(),
        ["repo/CLAUDE.md", "repo/docs/style.md", "repo/docs/deep/base.md", "repo/more.md"]
    );
    let memory = grove.memory();
    assert_eq!(memory.problems, []);
    assert_eq!(memory.files[1].imported_by, Some(grove.path("repo/CLAUDE.md")));
}

#[test]
fn code_imports_nothing() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "Use `@more.md` and\n```\n@more.md\n```\n");
    grove.put("repo/more.md", "More.");
    assert_eq!(grove.files(), ["repo/CLAUDE.md"]);
}

#[test]
fn a_repository_never_imports_a_key() {
    for trusted in [false, true] {
        let grove = Grove::new();
        let grove = if trusted { grove.trusted() } else { grove };
        grove.put("home/.ssh/id_rsa", "PRIVATE KEY").put("home/.aws/notes.md", "PRIVATE KEY");
        grove.put("home/key", "PRIVATE KEY");
        let absolute = grove.path("home/key").display().to_string();
        let text =
            format!("@~/.ssh/id_rsa @../home/.ssh/id_rsa @{absolute} @linked.md @~/.aws/notes.md");
        grove.put("repo/CLAUDE.md", &text).put("repo/CLAUDE.local.md", &text);
        grove.link("home/key", "repo/linked.md");
        let memory = grove.memory();
        assert_eq!(memory.files.len(), 2, "{:?}", grove.files());
        assert!(!memory.text().contains("PRIVATE KEY"));
        assert_eq!(memory.problems.len(), 10);
        assert!(memory.problems[0].to_string().contains("@~/.ssh/id_rsa was left out"));
    }
}

#[test]
fn a_trusted_project_may_import_a_document_from_outside() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "@~/notes/house.md").put("home/notes/house.md", "Rules.");
    assert_eq!(grove.files(), ["repo/CLAUDE.md"]);
    let hidden = grove.path("").components().any(|part| {
        part.as_os_str().as_encoded_bytes().starts_with(b".") && part.as_os_str() != "."
    });
    if hidden {
        return println!("skipped: the temporary directory is itself hidden");
    }
    assert_eq!(grove.trusted().files(), ["repo/CLAUDE.md", "home/notes/house.md"]);
}

#[test]
fn the_user_may_import_from_anywhere_but_lends_that_to_no_project() {
    let grove = Grove::new();
    let project = grove.path("repo/shared.md").display().to_string();
    grove.put("user/CLAUDE.md", &format!("@~/mine.txt @{project}"));
    grove.put("home/mine.txt", "Mine.").put("home/key", "PRIVATE KEY");
    grove.put("repo/shared.md", "@~/key");
    assert_eq!(grove.files(), ["user/CLAUDE.md", "home/mine.txt", "repo/shared.md"]);
    assert!(only(&grove.memory().problems).contains("@~/key was left out"));
}

#[test]
fn circles_are_named_and_end() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "@a.md").put("repo/a.md", "@b.md").put("repo/b.md", "@a.md");
    assert_eq!(grove.files(), ["repo/CLAUDE.md", "repo/a.md", "repo/b.md"]);
    let problem = only(&grove.memory().problems);
    assert!(problem.contains("b.md: the import @a.md goes in a circle"), "{problem}");
}

#[test]
fn chains_end_after_four_hops() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "@1.md");
    for n in 1..9 {
        grove.put(&format!("repo/{n}.md"), &format!("@{}.md", n + 1));
    }
    assert_eq!(
        grove.files(),
        ["repo/CLAUDE.md", "repo/1.md", "repo/2.md", "repo/3.md", "repo/4.md"]
    );
    assert!(only(&grove.memory().problems).contains("@5.md is more than 4 files away"));
}

#[test]
fn a_folder_or_a_missing_file_is_no_import() {
    let grove = Grove::new();
    grove.put("repo/CLAUDE.md", "@./docs/ @gone.md @user/handle").put("repo/docs/x", "");
    assert_eq!(grove.files(), ["repo/CLAUDE.md"]);
    assert_eq!(grove.memory().problems, []);
}
