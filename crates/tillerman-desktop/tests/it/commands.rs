//! Commands: only a few, only inside, only for a while.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_command_runs_in_the_workspace() {
    let stage = Stage::new();
    stage.write("poem.txt", "roses\nviolets\n");
    let args = json!({"command": "grep", "args": ["-n", "violets", "poem.txt"]});
    let ran = stage.answer("run_shell_command", args).await;
    assert_eq!(ran["stdout"], "2:violets\n");
    assert_eq!(ran["exit_code"], 0);
    let ran = stage.answer("run_shell_command", json!({"command": "pwd"})).await;
    assert_eq!(ran["stdout"], format!("{}\n", stage.root().display()));
    let args = json!({"command": "cat", "args": ["missing"]});
    let ran = stage.answer("run_shell_command", args).await;
    assert_eq!(ran["exit_code"], 1);
    assert!(ran["stderr"].as_str().unwrap().contains("missing"));
}

#[tokio::test]
async fn other_commands_are_refused() {
    let stage = Stage::new();
    for command in ["rm", "bash", "ls; rm -rf .", "ls -la", "/bin/ls", "../bin/ls", ""] {
        let why = stage.failure("run_shell_command", json!({"command": command})).await;
        assert!(why.contains("not among the commands"), "{command}: {why}");
    }
}

#[tokio::test]
async fn there_is_no_shell_that_arguments_could_reach() {
    let stage = Stage::new();
    let words = ["$(touch evil)", "`touch evil`", "; touch evil", "| tee evil", "> evil", "$HOME"];
    let ran = stage.answer("run_shell_command", json!({"command": "echo", "args": words})).await;
    assert_eq!(ran["stdout"], format!("{}\n", words.join(" ")));
    assert!(!stage.root().join("evil").exists());
}

#[tokio::test]
async fn arguments_do_not_lead_out() {
    let stage = Stage::new();
    stage.link("link", stage.path("work-evil/secret.txt"));
    stage.link("gone", stage.path("work-evil/later.txt"));
    let secret = stage.path("work-evil/secret.txt").display().to_string();
    let short = format!("-nf{secret}");
    let long = format!("--file={secret}");
    let cases: [(&str, &[&str]); 10] = [
        ("cat", &["../work-evil/secret.txt"]),
        ("cat", &[&secret]),
        ("cat", &["link"]),
        ("cat", &["gone"]),
        ("cat", &["--", "link"]),
        ("grep", &["-f", &secret, "file"]),
        ("grep", &[&short, "file"]),
        ("grep", &[&long, "file"]),
        ("ls", &["/etc"]),
        ("ls", &[".."]),
    ];
    for (command, args) in cases {
        let input = json!({"command": command, "args": args});
        let why = stage.failure("run_shell_command", input).await;
        assert!(why.contains("leads out"), "{command} {args:?}: {why}");
    }
}

#[tokio::test]
async fn options_that_follow_links_or_change_things_are_refused() {
    let stage = Stage::new();
    let cases = [
        ("grep", "-R"),
        ("grep", "-nR"),
        ("grep", "--dereference-recursive"),
        ("grep", "--deref"),
        ("ls", "-lL"),
        ("ls", "--dereference"),
        ("date", "-s"),
        ("date", "--set=2020-01-01"),
        ("date", "--se=2020-01-01"),
    ];
    for (command, option) in cases {
        let input = json!({"command": command, "args": [option, "x"]});
        let why = stage.failure("run_shell_command", input).await;
        assert!(why.contains("is not allowed here"), "{command} {option}: {why}");
    }
}

#[tokio::test]
async fn patterns_that_only_look_like_paths_are_patterns() {
    let stage = Stage::new();
    stage.write("routes.txt", "GET /nowhere-at-all\n");
    let input = json!({"command": "grep", "args": ["/nowhere-at-all", "routes.txt"]});
    let ran = stage.answer("run_shell_command", input).await;
    assert_eq!(ran["stdout"], "GET /nowhere-at-all\n");
}

#[tokio::test]
async fn commands_end_when_their_time_is_over() {
    let stage = Stage::new().with_commands(&["sleep"]).with_time(Duration::from_millis(200));
    let begun = Instant::now();
    let input = json!({"command": "sleep", "args": ["60"]});
    let why = stage.failure("run_shell_command", input).await;
    assert!(why.contains("was ended"), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn commands_end_when_they_say_too_much() {
    let stage = Stage::new().with_commands(&["yes"]).with_bytes(100_000);
    let why = stage.failure("run_shell_command", json!({"command": "yes"})).await;
    assert!(why.contains("more than 100000 bytes"), "{why}");
}

#[tokio::test]
async fn commands_see_no_credentials() {
    let stage = Stage::new()
        .with_commands(&["env"])
        .with_variable("ANTHROPIC_API_KEY", "sk-dummy-hidden")
        .with_variable("SOME_TOKEN", "hidden-as-well")
        .with_variable("LANG", "C");
    let ran = stage.answer("run_shell_command", json!({"command": "env"})).await;
    let seen = ran["stdout"].as_str().unwrap();
    assert!(seen.contains("LANG=C") && !seen.contains("hidden"), "{seen}");
}

#[tokio::test]
async fn programs_of_the_workspace_are_not_run_in_place_of_commands() {
    let stage = Stage::new().with_program("ls", "echo real");
    let path = format!("{}:{}", stage.root().display(), stage.path("bin").display());
    let stage = stage.with_variable("PATH", path);
    let file = stage.root().join("ls");
    std::fs::copy(stage.path("bin/ls"), &file).unwrap();
    std::fs::write(&file, "#!/bin/sh\necho planted\n").unwrap();
    let ran = stage.answer("run_shell_command", json!({"command": "ls"})).await;
    assert_eq!(ran["stdout"], "real\n");
}
