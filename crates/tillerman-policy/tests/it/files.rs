//! File tools: where they may look and write, by all names of a path.

use serde_json::json;

use crate::world::{World, default_world, unguarded_world};

fn verdict(world: &World, tool: &str, path: &str) -> &'static str {
    world.verdict_of(tool, &json!({ "file_path": path }))
}

#[test]
fn reading_is_free_inside_only() {
    let world = default_world();
    for inside in ["/mnt/w/a", "a", "./a", "sub/../a", "CLAUDE.md", ".git/config"] {
        assert_eq!(verdict(&world, "Read", inside), "allow", "{inside}");
    }
    for outside in [
        "/etc/passwd",
        "../x",
        "/mnt/wx/y",
        "/mnt/w/../h/x",
        "~/x",
        "@/etc/passwd",
        "file:///etc/passwd",
        "/proc/self/root/mnt/w/a",
    ] {
        assert_eq!(verdict(&world, "Read", outside), "ask", "{outside}");
    }
    assert_eq!(world.verdict_of("Grep", &json!({ "pattern": "x" })), "allow");
    assert_eq!(world.verdict_of("Grep", &json!({ "pattern": "x", "path": "/etc" })), "ask");
    assert_eq!(world.verdict_of("Glob", &json!({ "pattern": "**/*.rs" })), "allow");
    assert_eq!(world.verdict_of("Glob", &json!({ "pattern": "/etc/*" })), "ask");
    assert_eq!(world.verdict_of("Glob", &json!({ "pattern": "../*" })), "ask");
}

#[test]
fn writing_needs_a_mode_or_a_rule() {
    assert_eq!(verdict(&default_world(), "Write", "a"), "ask");
    assert_eq!(verdict(&default_world().mode("acceptEdits"), "Write", "a"), "allow");
    assert_eq!(verdict(&default_world().mode("acceptEdits"), "Write", "/srv/a"), "ask");
    assert_eq!(verdict(&default_world().mode("acceptEdits"), "Write", "/mnt/w-evil/x"), "ask");
    assert_eq!(verdict(&default_world().allow(&["Edit"]), "Write", "/srv/a"), "allow");
    assert_eq!(verdict(&default_world().allow(&["Edit(src/**)"]), "MultiEdit", "src/a/b"), "allow");
    assert_eq!(verdict(&default_world().allow(&["Edit(src/**)"]), "Edit", "lib/src/a"), "ask");
    assert_eq!(verdict(&default_world().allow(&["Write(src/**)"]), "Write", "src/a"), "ask");
    assert_eq!(verdict(&default_world().mode("plan").allow(&["Edit"]), "Edit", "a"), "ask");
    assert_eq!(verdict(&default_world().mode("bypassPermissions"), "Write", "/srv/a"), "allow");
}

#[test]
fn allowing_needs_every_name_and_denying_any() {
    let world = default_world().link("/mnt/w/out", "/etc").mode("acceptEdits");
    assert_eq!(verdict(&world, "Write", "out/x"), "ask");
    assert_eq!(verdict(&world, "Write", "out/new/x"), "ask");
    assert_eq!(verdict(&world, "Read", "out/passwd"), "ask");
    let world = default_world().link("/mnt/w/link", "/mnt/w/src");
    assert_eq!(verdict(&world.clone().allow(&["Edit(link/**)"]), "Edit", "link/a"), "ask");
    assert_eq!(
        verdict(&world.clone().allow(&["Edit(link/**)", "Edit(src/**)"]), "Edit", "link/a"),
        "ask"
    );
    assert_eq!(verdict(&world.clone().deny(&["Edit(src/**)"]), "Edit", "link/a"), "deny");
    assert_eq!(verdict(&world.deny(&["Edit(link/**)"]), "Edit", "link/a"), "deny");
}

#[test]
fn restrictions_know_every_spelling_of_a_path() {
    let spellings = [
        "Read(secret.txt)",
        "Read(./secret.txt)",
        "Read(/secret.txt)",
        "Read(//mnt/w/secret.txt)",
        "Read(/mnt/w/secret.txt)",
        "Read(SECRET.TXT)",
        "Read(*.txt)",
        "Read(sec*)",
        "Read(**/secret.txt)",
        "Read({other,secret}.txt)",
        "Read({a,{b,sec}ret}.txt)",
    ];
    for rule in spellings {
        let world = default_world().deny(&[rule]).mode("bypassPermissions");
        for path in [
            "secret.txt",
            "/mnt/w/secret.txt",
            "./sub/../secret.txt",
            "/mnt/h/../w/secret.txt",
            "/proc/self/cwd/secret.txt",
        ] {
            assert_eq!(verdict(&world, "Read", path), "deny", "{rule} {path}");
        }
        assert_eq!(
            verdict(&world, "Write", "secret.txt"),
            "deny",
            "what is not read is not written"
        );
    }
    let world = default_world().deny(&["Read(~/.ssh/**)"]);
    assert_eq!(verdict(&world, "Read", "/mnt/h/.ssh/id"), "deny");
    assert_eq!(verdict(&world, "Read", "~/.ssh/id"), "deny");
    let world = default_world().deny(&["Read($HOME/.ssh)"]);
    assert_eq!(verdict(&world, "Read", "/mnt/h/.ssh/id"), "deny");
    assert_eq!(
        default_world()
            .deny(&["Read(.env)"])
            .verdict_of("Grep", &json!({"pattern": "x", "path": ".env"})),
        "deny"
    );
}

#[test]
fn a_single_folder_pattern_denies_at_any_depth_and_allows_at_the_top() {
    let denied = default_world().deny(&["Edit(build/**)"]).mode("bypassPermissions");
    assert_eq!(verdict(&denied, "Edit", "a/b/build/x"), "deny");
    let allowed = default_world().allow(&["Edit(build/**)"]);
    assert_eq!(verdict(&allowed, "Edit", "build/x"), "allow");
    assert_eq!(verdict(&allowed, "Edit", "a/b/build/x"), "ask");
}

#[test]
fn the_folder_of_the_settings_anchors_a_slash() {
    let mut world = default_world();
    let rule = tillerman_policy::Rule::parse("Edit(/src/**)").unwrap();
    world.policy.allow = vec![rule.rooted_at("/mnt/other".into())];
    assert_eq!(verdict(&world, "Edit", "/mnt/other/src/a"), "allow");
    assert_eq!(verdict(&world, "Edit", "src/a"), "ask");
}

#[test]
fn protected_files_are_approved_by_nobody_but_people() {
    let protected = [
        ".git/config",
        "sub/.git/hooks/x",
        ".vscode/tasks.json",
        ".husky/pre-commit",
        ".bashrc",
        ".envrc",
        ".npmrc",
        ".mcp.json",
        ".pnp.cjs",
        "lefthook.yml",
        ".GIT/config",
        ".Claude/settings.json",
        ".gitmodules",
        "gradle/wrapper/gradle-wrapper.properties",
        ".config/git/config",
        ".gıt/config",
        "．git/x",
        ".g\u{200b}it/config",
        ".git./config",
        ".git::$INDEX_ALLOCATION/config",
    ];
    for path in protected {
        for world in
            [unguarded_world().mode("acceptEdits"), unguarded_world().allow(&["Edit", "Edit(**)"])]
        {
            assert_eq!(verdict(&world, "Write", path), "ask", "{path}");
        }
        assert_eq!(
            verdict(&unguarded_world().mode("bypassPermissions"), "Write", path),
            "allow",
            "{path}"
        );
    }
    for path in [
        "git/x",
        ".gitignore",
        "src/.gitkeep",
        "日本語.md",
        "x.envrc.md",
        ".claude/worktrees/a/src/b",
    ] {
        assert_eq!(
            verdict(&unguarded_world().mode("acceptEdits"), "Write", path),
            "allow",
            "{path}"
        );
    }
    assert_eq!(
        verdict(&unguarded_world().mode("acceptEdits"), "Write", ".claude/worktrees/a/.git/x"),
        "ask"
    );
}

#[test]
fn guarded_files_are_written_by_nobody() {
    for mode in
        ["default", "acceptEdits", "plan", "bypassPermissions", "full-auto", "dontAsk", "auto"]
    {
        let world = default_world().mode(mode).allow(&["Edit", "Write"]).after_hook_allow();
        for (tool, input) in [
            ("Write", json!({ "file_path": "CLAUDE.md" })),
            ("Edit", json!({ "file_path": "/mnt/w/CLAUDE.md" })),
            ("MultiEdit", json!({ "files": [{ "file_path": "a" }, { "file_path": "CLAUDE.md" }] })),
            ("NotebookEdit", json!({ "notebook_path": ".claude/x.ipynb" })),
        ] {
            let ruling = world.ruling_of(tool, &input, false);
            assert_eq!(ruling.verdict.name(), "deny", "{mode} {tool}");
        }
    }
    let ruling =
        default_world().ruling_of("Write", &json!({ "file_path": "/mnt/w/CLAUDE.md" }), false);
    let expected = "Cannot modify protected file: CLAUDE.md";
    assert!(
        matches!(&ruling.verdict, tillerman_policy::Verdict::Deny { message, .. } if message == expected)
    );
    assert_eq!(verdict(&default_world().mode("acceptEdits"), "Write", "MYCLAUDE.md"), "allow");
    assert_eq!(
        verdict(&default_world().link("/mnt/w/l.md", "/mnt/w/CLAUDE.md"), "Write", "l.md"),
        "deny"
    );
}

#[test]
fn a_file_with_another_name_is_not_written_unseen() {
    let mut world = unguarded_world().mode("acceptEdits");
    world.disk.with_other_names.push("/mnt/w/hard.md".into());
    assert_eq!(verdict(&world, "Write", "hard.md"), "ask");
    assert_eq!(world.ruling("echo x > hard.md").verdict.name(), "ask");
    assert_eq!(world.ruling("echo x > soft.md").verdict.name(), "allow");
}

#[test]
fn a_repository_that_names_programs_is_asked_about() {
    let mut world = default_world();
    world.disk.names_programs = true;
    assert_eq!(world.ruling("git diff").verdict.name(), "ask");
    assert_eq!(world.ruling("ls").verdict.name(), "allow");
}

#[test]
fn links_count_for_commands_too() {
    let world = default_world().link("/mnt/w/out", "/etc");
    assert_eq!(world.ruling("cat out/passwd").verdict.name(), "ask");
    assert_eq!(world.clone().mode("acceptEdits").ruling("touch out/x").verdict.name(), "ask");
    assert_eq!(world.clone().mode("acceptEdits").ruling("echo x > out/x").verdict.name(), "ask");
    let world = default_world().link("/mnt/w/l.md", "/mnt/w/CLAUDE.md").mode("bypassPermissions");
    assert_eq!(world.ruling("echo x > l.md").verdict.name(), "deny");
}

#[test]
fn further_directories_count() {
    let mut world = default_world().mode("acceptEdits");
    world.policy.directories.push("/srv/more".into());
    assert_eq!(verdict(&world, "Write", "/srv/more/a"), "allow");
    assert_eq!(world.ruling("cat /srv/more/a").verdict.name(), "allow");
    assert_eq!(world.ruling("rm -rf /srv/more").verdict.name(), "ask");
    assert_eq!(world.ruling("rm -rf /srv/more/*").verdict.name(), "ask");
    assert_eq!(world.ruling("cd /srv/more && ls").verdict.name(), "allow");
}
