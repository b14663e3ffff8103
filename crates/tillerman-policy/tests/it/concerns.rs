//! Whether a rule is about a call, without judging it.

use serde_json::{Value, json};
use tillerman_policy::{Facts, Policy, Rule, Unseen};

fn concerns(rule: &str, tool: &str, input: &Value) -> bool {
    let policy = Policy { directories: vec!["/project".into()], ..Policy::default() };
    let facts = Facts { tool, input, only_looks: false, disk: &Unseen };
    policy.concerns(&Rule::parse(rule).unwrap(), &facts)
}

#[test]
fn a_command_counts_by_any_of_its_parts() {
    let table = [
        ("Bash", "make", true),
        ("Bash(git *)", "git push", true),
        ("Bash(git *)", "git", true),
        ("Bash(git *)", "make", false),
        ("Bash(git *)", "cd x && FOO=1 git push | tee log", true),
        ("Bash(rm *)", "echo rm", false),
        ("Write", "make", false),
        ("mcp__notes", "make", false),
    ];
    for (rule, command, expected) in table {
        let found = concerns(rule, "Bash", &json!({"command": command}));
        assert_eq!(found, expected, "{rule} {command}");
    }
}

#[test]
fn what_nobody_can_read_counts() {
    for command in ["if ((", "$CMD push", "eval \"$x\""] {
        assert!(concerns("Bash(git *)", "Bash", &json!({"command": command})), "{command}");
    }
}

#[test]
fn other_calls_count_by_what_they_are_about() {
    let file = |path: &str| json!({"file_path": path, "content": ""});
    assert!(concerns("Edit(*.ts)", "Write", &file("/project/a.ts")));
    assert!(!concerns("Edit(*.ts)", "Write", &file("/project/a.rs")));
    assert!(concerns("mcp__notes", "mcp__notes__read", &json!({})));
    assert!(concerns(
        "WebFetch(domain:example.com)",
        "WebFetch",
        &json!({"url": "https://example.com/a"})
    ));
    assert!(!concerns(
        "WebFetch(domain:example.com)",
        "WebFetch",
        &json!({"url": "https://other.test/"})
    ));
}
