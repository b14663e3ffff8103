//! Commands run in a shell of their own, in a directory that carries over.

use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_tools::ToolLimits;

use crate::bench::{Bench, structured, text};

#[tokio::test]
async fn output_and_errors_come_together_in_order() {
    let bench = Bench::new();
    let output = bench.bash("echo out; echo err >&2; echo out again").await.unwrap();
    assert_eq!(text(&output), "out\nerr\nout again");
    let expected = json!({
        "stdout": "out\nerr\nout again", "stderr": "", "interrupted": false,
        "isImage": false, "noOutputExpected": false,
    });
    assert_eq!(structured(&output), expected);
    assert_eq!(text(&bench.bash("true").await.unwrap()), "(no output)");
    assert_eq!(text(&bench.bash("echo; echo ' '").await.unwrap()), "(no output)");
    assert_eq!(text(&bench.bash("printf '\\n \\n  a\\n\\nb\\n'").await.unwrap()), "  a\n\nb");
}

#[tokio::test]
async fn exit_codes_and_signals_are_failures_unless_they_are_answers() {
    let bench = Bench::new();
    let cases = [
        ("echo before; exit 3", "Exit code 3\nbefore"),
        ("false", "Exit code 1"),
        ("kill -9 $$", "The shell was ended by signal 9, SIGKILL."),
        ("sh -c 'kill -15 $$'", "Exit code 143 (usually a command ended by signal 15, SIGTERM)"),
        ("grep x /dev/null | cat && false", "Exit code 1"),
    ];
    for (command, message) in cases {
        let failure = bench.bash(command).await.unwrap_err();
        assert!(failure.message.starts_with(message), "{command}: {}", failure.message);
    }
    let failure = bench.bash("echo (").await.unwrap_err();
    assert!(failure.message.starts_with("Exit code 2\n") && failure.message.contains("syntax"));
    let failure = bench.bash("no-such-program").await.unwrap_err();
    assert!(failure.message.contains("line 1: no-such-program"), "{}", failure.message);
    let output = bench.bash("grep x /dev/null").await.unwrap();
    assert_eq!(text(&output), "(no output)\n[Exit code 1: no matches were found.]");
    assert_eq!(structured(&output)["returnCodeInterpretation"], "no matches were found");
    bench.bash("grep x missing-file").await.expect_err("exit code 2 is a failure");
}

#[tokio::test]
async fn the_directory_carries_over_but_variables_do_not() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("sub/deeper")).unwrap();
    bench.bash("cd sub && X=1 && export Y=2").await.unwrap();
    let output = bench.bash("pwd; echo [$X$Y]").await.unwrap();
    assert_eq!(text(&output), format!("{}\n[]", bench.path("sub").display()));
    bench.bash("cd deeper; exit 3").await.unwrap_err();
    let output = bench.bash("pwd").await.unwrap();
    assert_eq!(text(&output), bench.path("sub/deeper").display().to_string());
    let left = std::fs::read_dir(bench.root().join("scratch")).unwrap().count();
    assert_eq!(left, 0, "nothing is left in the scratch directory");
}

#[tokio::test]
async fn the_directory_is_reset_outside_the_working_directories() {
    let outside = tempfile::tempdir().unwrap();
    let extra = tempfile::tempdir().unwrap();
    let extra_path = extra.path().canonicalize().unwrap();
    let bench = Bench::with(|config| config.working_directories.push(extra_path.clone()));
    let output = bench.bash("cd / && pwd").await.unwrap();
    assert!(text(&output).starts_with("/\n[The shell's directory is "), "{}", text(&output));
    assert_eq!(structured(&output)["stdout"], "/");
    std::os::unix::fs::symlink(outside.path(), bench.path("link")).unwrap();
    let output = bench.bash("cd link").await.unwrap();
    assert!(text(&output).contains("is outside the working directories"));
    let home = bench.path("").canonicalize().unwrap().display().to_string();
    assert_eq!(text(&bench.bash("pwd").await.unwrap()), home);
    bench.bash(&format!("cd {}", extra_path.display())).await.unwrap();
    assert_eq!(text(&bench.bash("pwd").await.unwrap()), extra_path.display().to_string());
}

#[tokio::test]
async fn following_the_directory_disturbs_nothing() {
    let bench = Bench::new();
    let output = bench.bash("set -eux; echo \"$#\"; cd /tmp").await.unwrap();
    assert!(!text(&output).contains("pwd"), "{}", text(&output));
    assert!(text(&output).contains("\n0\n"));
    let output = bench.bash("trap 'echo bye' EXIT; cat <<E\nhere\nE").await.unwrap();
    assert_eq!(text(&output), "here\nbye");
    assert_eq!(text(&bench.bash("exec echo gone").await.unwrap()), "gone");
    let output = bench.bash("echo 'it''s' \"$0\" # comment").await.unwrap();
    assert_eq!(text(&output), "its bash");
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.bash("cd sub").await.unwrap();
    std::fs::remove_dir(bench.path("sub")).unwrap();
    let failure = bench.bash("pwd").await.unwrap_err();
    assert!(failure.message.contains(&bench.path("sub").display().to_string()));
    bench.bash("pwd").await.expect("the session's own directory takes its place");
    std::fs::remove_dir(bench.path("")).unwrap();
    let failure = bench.bash("pwd").await.unwrap_err();
    assert!(failure.message.contains("working directory"), "{}", failure.message);
}

#[tokio::test]
async fn children_see_exactly_the_environment_they_are_given() {
    let bench = Bench::with(|config| config.environment.push(("A".into(), "1".into())));
    let output = text(&bench.bash("env | cut -d= -f1 | sort | tr '\\n' ' '").await.unwrap());
    assert_eq!(output, "A CLAUDECODE PATH PWD SHLVL TILLERMAN_CALL _");
}

#[tokio::test]
async fn start_up_files_and_the_shell_of_the_user_do_not_count() {
    let home = tempfile::tempdir().unwrap();
    for name in [".bashrc", ".bash_profile", ".profile", ".bash_login"] {
        std::fs::write(home.path().join(name), "echo from a start-up file; exit 9\n").unwrap();
    }
    let bench = Bench::with(|config| {
        config.environment.push(("HOME".into(), home.path().into()));
        config.environment.push(("SHELL".into(), "/bin/false".into()));
    });
    assert_eq!(text(&bench.bash("echo plain; echo ${0##*/}").await.unwrap()), "plain\nbash");
}

#[tokio::test]
async fn another_shell_steps_in_where_bash_is_missing() {
    let bench = Bench::with(|config| config.shell = "/missing/bash".into());
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.bash("cd sub").await.unwrap();
    let output = bench.bash("pwd; echo $0").await.unwrap();
    assert_eq!(text(&output), format!("{}\nsh", bench.path("sub").display()));
}

#[tokio::test]
async fn nothing_waits_for_input() {
    let bench = Bench::new();
    let start = Instant::now();
    let output = bench.bash("read x; echo \"[$x]\"; cat").await.unwrap();
    assert_eq!(text(&output), "[]");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_timeout_says_how_long_it_was_and_how_to_raise_it() {
    let bench = Bench::new();
    let input = json!({"command": "sleep 0; echo begun; sleep 60", "timeout": 200});
    let message = bench.failure("Bash", input).await;
    assert!(
        message.contains("timed out after 200 ms") && message.contains("at most 600000"),
        "{message}"
    );
    assert!(message.ends_with("begun"), "{message}");
    let short = Duration::from_millis(100);
    let limits = ToolLimits { default_timeout: short, max_timeout: short, ..ToolLimits::default() };
    let bench = Bench::with_limits(limits);
    let message = bench.failure("Bash", json!({"command": "sleep 60", "timeout": 60_000})).await;
    assert!(message.contains("timed out after 100 ms") && message.contains("longest"), "{message}");
}

#[tokio::test]
async fn a_call_can_ask_for_further_variables() {
    let mut bench = Bench::with(|config| config.environment.push(("A".into(), "1".into())));
    bench.environment.push(("A".to_owned(), "2".to_owned()));
    bench.environment.push(("GIT_PAGER".to_owned(), "cat".to_owned()));
    let output = text(&bench.bash("echo $A $GIT_PAGER").await.unwrap());
    assert_eq!(output, "2 cat");
}
