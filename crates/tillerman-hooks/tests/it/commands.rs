//! What a command is told, and what it has around it.

use serde_json::{Value, json};

use crate::bench::{Bench, answer, input};

#[tokio::test]
async fn a_command_reads_what_happened_from_its_standard_input() {
    let bench = Bench::new();
    bench.command("cat > told.json", "PreToolUse").await;
    let told: Value = serde_json::from_str(&bench.read("told.json")).unwrap();
    assert_eq!(told, input("PreToolUse"));
}

#[tokio::test]
async fn a_command_runs_in_the_project_with_a_clean_environment() {
    let mut bench = Bench::new();
    bench.variables = vec![("CLAUDE_PLUGIN_ROOT".to_owned(), "/plugins/a".to_owned())];
    let report = bench.command("pwd -P > where; env > vars; echo '{}'", "PreToolUse").await;
    assert_eq!(answer(&report), &Default::default());
    let here = bench.path().canonicalize().unwrap();
    assert_eq!(bench.read("where").trim(), here.display().to_string());
    let variables = bench.read("vars");
    let has = |line: &str| variables.lines().any(|it| it == line);
    assert!(has(&format!("CLAUDE_PROJECT_DIR={}", bench.path().display())), "{variables}");
    assert!(has("CLAUDE_EFFORT=high") && has("CLAUDE_PLUGIN_ROOT=/plugins/a"), "{variables}");
    assert!(has("HOOK_KEY=hunter2"));
    assert!(!variables.contains("OTEL_") && !variables.contains("CLAUDE_ENV_FILE"), "{variables}");
    // Nothing of this process's own environment beyond what it was given.
    assert!(!variables.contains("CARGO_"), "{variables}");
}

#[tokio::test]
async fn variables_can_be_left_at_the_beginning_only() {
    let bench = Bench::new();
    for (event, has_file) in [("SessionStart", true), ("Setup", true), ("Stop", false)] {
        bench.command("echo \"${CLAUDE_ENV_FILE-none}\" > file", event).await;
        let file = bench.read("file");
        assert_eq!(file.trim() != "none", has_file, "{event}");
    }
    let left = "echo 'export A=1' >> \"$CLAUDE_ENV_FILE\"";
    bench.command(left, "SessionStart").await;
    bench.command(left, "SessionStart").await;
    assert_eq!(bench.read("vars/env.sh"), "export A=1\nexport A=1\n");
}

#[tokio::test]
async fn arguments_mean_that_no_shell_is_involved() {
    let bench = Bench::new();
    let args = json!(["-c", "printf %s \"$0\" > said", "$(touch harm) ; x"]);
    let handler = json!({"type": "command", "command": "sh", "args": args});
    bench.run(&handler, "Stop").await;
    assert_eq!(bench.read("said"), "$(touch harm) ; x");
    assert!(!bench.path().join("harm").exists());
}

#[tokio::test]
async fn another_shell_can_be_named() {
    let bench = Bench::new();
    let handler =
        json!({"type": "command", "command": "[[ a == a ]] && echo yes", "shell": "bash"});
    let report = bench.run(&handler, "Stop").await;
    assert_eq!(report.printed.stdout, "yes\n");
}
