//! The examples run, offline, and say what they should.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::world::within;

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.is_file(), "build it first: cargo build -p tillerman --examples");
    path
}

/// Runs an example in a directory with one file and returns what it printed.
async fn run(name: &str, arguments: &[&str], input: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("hello.txt"), "hello").unwrap();
    let mut child = Command::new(example(name))
        .args(arguments)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One that needs no input may have ended already.
    drop(stdin.write_all(input.as_bytes()).await);
    drop(stdin);
    let output = within(child.wait_with_output()).await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {printed}\n{complaints}");
    printed
}

#[tokio::test]
async fn example_chat() {
    let printed = run("chat", &[], "list files\nread hello.txt\n\n").await;
    assert!(printed.contains("hello.txt") && printed.contains("[Read"), "{printed}");
}

#[tokio::test]
async fn example_permission_prompt() {
    let printed = run("permission_prompt", &["run `touch made`"], "n\n").await;
    assert!(printed.contains("Bash wants to run"), "{printed}");
}

#[tokio::test]
async fn example_code_reviewer() {
    assert!(!run("code_reviewer", &[], "").await.is_empty());
}

#[tokio::test]
async fn example_batch() {
    let printed = run("batch", &["list files", ".", "src"], "").await;
    assert!(printed.contains("== .") && printed.contains("== src"), "{printed}");
}

#[tokio::test]
async fn example_tool_server() {
    let printed = run("tool_server", &[], "").await;
    assert!(printed.contains("mcp__warehouse__stock"), "{printed}");
}

#[tokio::test]
async fn example_resume() {
    let printed = run("resume", &[], "").await;
    assert!(printed.contains("Two questions:"), "{printed}");
}

#[tokio::test]
async fn example_multi_agent() {
    let printed = run("multi_agent", &[], "").await;
    assert!(printed.contains("[begins:") && printed.contains("[ends:"), "{printed}");
}

#[tokio::test]
async fn example_testing() {
    let printed = run("testing", &[], "").await;
    assert!(printed.contains("only looks"), "{printed}");
}

#[tokio::test]
async fn example_overhead() {
    // It exits with 1 when threads or open files stay behind.
    let printed = run("overhead", &["30"], "").await;
    for line in ["30 queries:", "added", "memory", "threads"] {
        assert!(printed.lines().any(|it| it.starts_with(line)), "{printed}");
    }
    assert!(printed.contains("2 more: ok"), "{printed}");
}
